import { describe, expect, test } from "vitest";
import { openDocumentReader } from "../documents/reader.ts";
import type { Layer } from "../layer/layer.ts";
import type { System } from "../system/port.ts";
import { listProfiles, readPolicy, readProfile } from "./reader.ts";

const profile = `name: quick
description: For small things.
capability: fast
effort: low
verbosity: terse
presentation: machine
checkpoint_interval: 30m
`;
const folder = ".ai/repo/profiles/";

function layerOf(files: Readonly<Record<string, string>>): Layer {
  const documents = openDocumentReader({ system: {} as System, cache: undefined, keep: false, version: "1" });
  const list = (where: string): string[] =>
    Object.keys(files).flatMap((name) => (name.startsWith(where) ? [name.slice(where.length)] : []));
  return { documents, list, read: (name: string) => files[name] } as unknown as Layer;
}

describe("readPolicy", () => {
  test("readPolicy answers the policy, or names the file that is missing", async () => {
    expect(await readPolicy(layerOf({ ".ai/repo/policy.yaml": "version: 1\n" }))).toEqual({ version: 1 });
    await expect(readPolicy(layerOf({}))).rejects.toMatchObject({
      code: "MISSING_FILE",
      exit: 12,
      message: ".ai/repo/policy.yaml is missing",
    });
  });

  test("readPolicy names every wrong line, and what the first may have meant", async () => {
    const text = "version: 1\nledgr:\n  rotate: auto\nhandover:\n  retention_max_files: none\n";
    await expect(readPolicy(layerOf({ ".ai/repo/policy.yaml": text }))).rejects.toMatchObject({
      code: "POLICY_INVALID",
      exit: 10,
      message: expect.stringMatching(/policy\.yaml:\d: .+; .ai\/repo\/policy\.yaml:\d: /),
    });
    await expect(readPolicy(layerOf({ ".ai/repo/policy.yaml": "version: 1\nledgr: {}\n" }))).rejects.toMatchObject({
      hint: "did you mean 'ledger'?",
      details: { line: 2, key: "ledgr" },
    });
  });
});

describe("readProfile", () => {
  const layer = layerOf({
    [`${folder}quick.yaml`]: profile,
    [`${folder}bad.yaml`]: "name: bad\n",
    [`${folder}README.md`]: "text",
    [`${folder}../policy.yaml`]: profile,
  });

  test("readProfile answers a profile by its name", async () => {
    expect((await readProfile(layer, "quick")).effort).toBe("low");
    await expect(readProfile(layer, "bad")).rejects.toMatchObject({ code: "POLICY_INVALID" });
  });

  test.each(["nobody", "", "../policy", "quick.yaml", "quick/", ".hidden", "a b", "QUICK"])(
    "readProfile finds no profile '%s', and tells those there are",
    async (name) => {
      await expect(readProfile(layer, name)).rejects.toMatchObject({
        code: "NOT_FOUND",
        hint: expect.stringContaining("quick"),
      });
    },
  );

  test("listProfiles lists documents alone", () => {
    expect(listProfiles(layerOf({ [`${folder}b.yaml`]: "", [`${folder}README.md`]: "" }))).toEqual(["b"]);
  });
});
