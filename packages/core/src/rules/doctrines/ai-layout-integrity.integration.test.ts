import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../findings/finding.ts";
import { type Checkout, makeScene, type Scene } from "../../git/fixture.ts";
import { readRepository } from "../../git/reading.ts";
import { openLayer } from "../../layer/layer.ts";
import type { DoctrineInput } from "../doctrine.ts";
import { aiLayoutIntegrity } from "./ai-layout-integrity.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({
    ".ai/manifest.yaml": "schema: ai-repository/v1\n",
    ".ai/local/state/a": "x",
    ".ai/local/state/läs mig": "y",
  });
});
afterAll(() => scene.remove());

async function tracked(): Promise<readonly Finding[]> {
  const system = main.system();
  const git = readRepository(system, main.top);
  const layer = openLayer({ system, repository: git.repository, version: "1", caches: false, dry: true });
  const found = await aiLayoutIntegrity.validate({ layer, git } as unknown as DoctrineInput);
  return found.filter((finding) => finding.message.includes("is tracked by git"));
}

describe("aiLayoutIntegrity", () => {
  test("ai-layout-integrity finds a record that git tracks, however git writes its index", async () => {
    main.git("add", ".ai/manifest.yaml");
    expect(await tracked()).toEqual([]);
    main.git("add", "-f", ".ai/local");
    const wanted = [".ai/local/state/a", ".ai/local/state/läs mig"];
    const forms: readonly (readonly string[])[] = [
      ["--index-version", "2"],
      ["--index-version", "4"],
      ["--split-index"],
    ];
    for (const form of forms) {
      main.git("update-index", ...form);
      const found = await tracked();
      expect([form, found.map((finding) => finding.subject)]).toEqual([form, wanted]);
      expect(found.every((finding) => finding.level === "FAIL")).toBe(true);
    }
    main.git("update-index", "--no-split-index");
    main.git("rm", "-q", "--cached", "-r", ".ai/local");
    expect(await tracked()).toEqual([]);
    expect(fs.existsSync(path.join(main.top, ".ai/local/state/a"))).toBe(true);
  });
});
