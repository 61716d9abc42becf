import * as fs from "node:fs";
import { expect, test } from "vitest";
import { makeScene } from "../scene.ts";
import { listUndeclared } from "../undeclared.ts";

// Every call of a scene's `reeve` looks for such files, so that the whole suite is the census; this shows that it would find one.
test("a file no table declares is found in each folder Reeve keeps files in", () => {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["decision", "add", "x", "--why", "y"]).exit).toBe(0);
  const home = scene.env["HOME"] as string;
  expect(listUndeclared(scene.folder, scene.env)).toEqual(new Set());
  expect(fs.readdirSync(`${home}/.cache/reeve`)).toEqual(["code"]);
  const strays = [
    scene.at(".ai/stray"),
    scene.at(".git/reeve/checkouts/main/state/stray.json"),
    scene.at(".git/reeve/stray"),
    `${home}/.local/state/reeve/stray`,
    `${home}/.local/state/reeve/repositories/0123456789abcdef/stray`,
    `${home}/.cache/reeve/stray`,
  ];
  for (const file of strays) {
    fs.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    fs.writeFileSync(file, "x");
  }
  expect([...listUndeclared(scene.folder, scene.env)].sort()).toEqual([...strays].sort());
});
