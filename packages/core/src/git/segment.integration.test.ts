import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { OwnFiles } from "./attribution.ts";
import { type Checkout, makeScene, type Scene } from "./fixture.ts";
import { readRepository, type Since } from "./reading.ts";

let scene: Scene;
let work: Checkout;
let since: Since;
let log: string;
let made = 0;

beforeAll(() => {
  scene = makeScene();
});
afterAll(() => scene.remove());

beforeEach(() => {
  made += 1;
  work = scene.make(`work ${made}`);
  log = path.join(work.top, ".git/logs/HEAD");
  since = { base: work.head(), startedAt: scene.now() };
  work.commit("own", { "own.txt": "1" });
});

function own(): OwnFiles {
  return readRepository(work.system(), work.top).own(since);
}

describe("deriveSegment on real reflogs", () => {
  test("deriveSegment cannot tell where git keeps no reflog: the whole range counts", () => {
    fs.rmSync(path.join(work.top, ".git/logs"), { recursive: true });
    work.git("config", "core.logAllRefUpdates", "false");
    work.commit("unseen", { "unseen.txt": "1" });
    expect(fs.existsSync(log)).toBe(false);
    expect(own()).toMatchObject({ basis: "range", files: { size: 2 } });
  });

  test("deriveSegment cannot tell after the reflog was emptied", () => {
    work.git("reflog", "expire", "--expire=now", "--all");
    expect(fs.readFileSync(log, "utf8")).toBe("");
    expect(own()).toMatchObject({ basis: "range", files: { size: 1 } });
    work.commit("seen", { "seen.txt": "1" });
    expect(own().files.size).toBe(2);
  });

  test("deriveSegment cannot tell when a commit left no trace, at the end or in the middle", () => {
    const kept = fs.readFileSync(log);
    work.commit("unseen", { "unseen.txt": "1" });
    fs.writeFileSync(log, kept);
    expect(own()).toMatchObject({ basis: "range", files: { size: 2 } });
    work.commit("seen again", { "seen.txt": "1" });
    expect(own()).toMatchObject({ basis: "range", files: { size: 3 } });
  });

  test("deriveSegment tells from the entries since the start when the base's own entry is gone", () => {
    fs.writeFileSync(log, fs.readFileSync(log, "utf8").split("\n").slice(1).join("\n"));
    expect(own()).toMatchObject({ basis: "reflog", files: { size: 1 } });
  });
});
