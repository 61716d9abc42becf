import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { makeScene } from "../scene.ts";

const { version } = JSON.parse(fs.readFileSync("packages/cli/package.json", "utf8")) as { version: string };

describe("reeve version", () => {
  test("prints the package's version", () => {
    const scene = makeScene({ commits: false });
    expect(scene.reeve(["version"])).toEqual({ exit: 0, stdout: `reeve ${version}\n`, stderr: "" });
    expect(scene.reeve(["--version"]).stdout).toBe(`reeve ${version}\n`);
  });

  test("prints JSON, and works outside a repository", () => {
    const scene = makeScene({ commits: false });
    const answer = scene.reeve(["version", "--json"], { cwd: scene.folder });
    expect(JSON.parse(answer.stdout)).toEqual({ ok: true, result: { version } });
    expect(answer.exit).toBe(0);
  });
});
