import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Level } from "../../findings/finding.ts";
import { type Checkout, makeScene, type Scene } from "../../git/fixture.ts";
import { readRepository } from "../../git/reading.ts";
import { openLayer } from "../../layer/layer.ts";
import type { DoctrineInput } from "../doctrine.ts";
import { enforcementWiring } from "./enforcement-wiring.ts";

let scene: Scene;
let main: Checkout;

beforeAll(() => {
  scene = makeScene();
  main = scene.make("main tree");
});
afterAll(() => scene.remove());

async function judge(required: boolean, env: Readonly<Record<string, string>> = {}): Promise<readonly Level[]> {
  const system = main.system(env);
  const git = readRepository(system, main.top);
  const layer = openLayer({ system, repository: git.repository, version: "1", caches: false, dry: true });
  const enforcement = [{ name: "a", path: "reeve", args: ["doctor"], wired_by: "git-hook:pre-commit", required }];
  const input = { layer, git, policy: { version: 1, enforcement } } as unknown as DoctrineInput;
  const found = await enforcementWiring.validate(input);
  for (const finding of found) if (finding.level !== "OK") expect(finding.reproduce).toMatch(/\S/);
  return found.map((finding) => finding.level);
}

function hook(row: string | undefined): void {
  const file = path.join(main.top, ".git/hooks/pre-commit");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.rmSync(file, { force: true });
  if (row !== undefined) fs.writeFileSync(file, `#!/bin/sh\n${row}\n`, { mode: 0o755 });
}

describe("enforcementWiring", () => {
  test("enforcement-wiring warns of a clone that never wired a hook, and fails where the policy says so outside CI", async () => {
    hook(undefined);
    expect(await judge(false)).toEqual(["WARN"]);
    expect(await judge(true)).toEqual(["FAIL"]);
    expect(await judge(true, { CI: "true" })).toEqual(["WARN"]);
  });

  test("enforcement-wiring fails a hook that would not hold, whatever the policy says, in CI too", async () => {
    hook("reeve doctor || true");
    for (const required of [false, true]) expect(await judge(required, { CI: "true" })).toEqual(["FAIL"]);
  });

  test("enforcement-wiring passes a hook that holds, and not one of which that is unclear", async () => {
    hook("reeve doctor || exit $?");
    expect(await judge(true)).toEqual(["OK"]);
    hook("reeve doctor\necho done");
    expect(await judge(false)).not.toContain("OK");
  });
});
