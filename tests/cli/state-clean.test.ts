import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const day = 86_400;

/** Writes a file of the checkout's own half that was last changed so many days ago. */
function put(scene: Scene, file: string, daysAgo: number, text = "12345"): void {
  scene.write(file, text);
  const then = Date.now() / 1000 - daysAgo * day;
  fs.utimesSync(scene.at(file), then, then);
}

describe("reeve state clean", () => {
  test("removes caches over their time, says what and why, and first says what it would", () => {
    const scene = makeScene({ layer: true });
    put(scene, ".ai/local/cache/old.json", 40);
    put(scene, ".ai/local/cache/young.json", 3);
    put(scene, ".ai/local/state/checkpoints/old.md", 4000);
    put(scene, ".ai/local/undeclared/old", 4000);
    const removed = [{ path: ".ai/local/cache/old.json", size: 5, why: "not changed for 40 days, kept for 30" }];
    const planned = resultOf(scene.reeve(["state", "clean", "--dry-run", "--json"]));
    expect(planned).toEqual({ dry_run: true, removed, bytes: 5, problems: [] });
    expect(scene.exists(".ai/local/cache/old.json")).toBe(true);
    const { stdout, exit } = scene.reeve(["state", "clean"]);
    expect(exit).toBe(0);
    expect(stdout).toBe(
      "removed .ai/local/cache/old.json (5 bytes): not changed for 40 days, kept for 30\nremoved 1 file, 5 bytes\n",
    );
    const kept = ["cache/young.json", "state/checkpoints/old.md", "undeclared/old"];
    for (const name of kept) expect(scene.exists(`.ai/local/${name}`), name).toBe(true);
    expect(scene.exists(".ai/local/cache/old.json")).toBe(false);
    expect(scene.reeve(["state", "clean"]).stdout).toBe("nothing is old enough to go\n");
  });

  test("leaves a link and what it leads to", () => {
    const scene = makeScene({ layer: true });
    put(scene, "precious.txt", 4000);
    fs.symlinkSync(scene.at("precious.txt"), scene.at(".ai/local/cache/link"));
    fs.symlinkSync(scene.repo, scene.at(".ai/local/cache/folder"));
    expect(resultOf(scene.reeve(["state", "clean", "--json"]))).toMatchObject({ removed: [], problems: [] });
    expect(scene.read("precious.txt")).toBe("12345");
    expect(fs.readdirSync(scene.at(".ai/local/cache")).sort()).toEqual(expect.arrayContaining(["folder", "link"]));
  });

  test("takes what a killed writer left half written along, and what a living one writes not", () => {
    const scene = makeScene({ layer: true });
    const dead = `.ai/local/state/.current.yaml.${2 ** 22 + 1}.ab12.tmp`;
    const alive = `.ai/local/state/.current.yaml.${process.pid}.ab12.tmp`;
    for (const file of [dead, alive]) scene.write(file, "half");
    const removed = [{ path: dead, size: 4, why: "half written by a process that is gone" }];
    expect(resultOf(scene.reeve(["state", "clean", "--dry-run", "--json"]))).toMatchObject({ removed, bytes: 4 });
    expect(scene.exists(dead)).toBe(true);
    expect(scene.reeve(["state", "clean"]).exit).toBe(0);
    expect([scene.exists(dead), scene.exists(alive)]).toEqual([false, true]);
  });

  test("goes on where no folder of the user's own is known, and says so", () => {
    const scene = makeScene({ layer: true });
    put(scene, ".ai/local/cache/old.json", 40);
    const answer = scene.reeve(["state", "clean", "--json"], { env: { HOME: undefined } });
    const removed = [{ path: ".ai/local/cache/old.json" }];
    expect(resultOf(answer)).toMatchObject({ removed, problems: [{ path: "conversions" }] });
    expect(scene.exists(".ai/local/cache/old.json")).toBe(false);
  });

  test("makes nothing in the user's own folders", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["state", "clean"]).exit).toBe(0);
    expect(fs.existsSync(`${scene.folder}/home/.local`)).toBe(false);
  });
});
