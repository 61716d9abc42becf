import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, foundIn, ofLevel, onlyFailure, resultOf, rowsOf } from "../answers.ts";
import { makeScene, program, type Scene } from "../scene.ts";

const ledger = ".ai/local/state/ledger.jsonl";

function line(members: Readonly<Record<string, unknown>>): string {
  const envelope = {
    ts: "2020-01-01T00:00:00Z",
    event: "decision.recorded",
    head: "NONE",
    branch: "main",
    by: "reeve/0",
  };
  return `${JSON.stringify({ ...envelope, ...members })}\n`;
}

function fill(scene: Scene, count: number): void {
  const rows = Array.from({ length: count }, (_, index) => line({ decision: `d${index}` }));
  scene.write(ledger, rows.join(""));
}

describe("reeve history", () => {
  let scene: Scene;
  beforeAll(() => {
    scene = makeScene({ layer: true });
    scene.write(ledger, line({ decision: "old", task_id: "t-20200101000000-abcd" }));
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["decision", "add", "new", "--why", "w"]).exit).toBe(0);
  });

  test("prints one row a line, oldest first, and the file's own lines as JSON", () => {
    const rows = rowsOf(scene.reeve(["history"]).stdout);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(
      /^2020-01-01T00:00:00Z {2}decision\.recorded +t-20200101000000-abcd {2}NONE {2}decision=old$/,
    );
    expect(scene.reeve(["history", "--json"]).stdout).toBe(scene.read(ledger));
  });

  test("filters by task, event, time and number", () => {
    const count = (...args: readonly string[]): number => rowsOf(scene.reeve(["history", ...args]).stdout).length;
    expect(count("--task", "t-20200101000000-abcd")).toBe(1);
    expect(count("--event", "decision.recorded")).toBe(2);
    expect(count("--since", "1h")).toBe(2);
    expect(count("--since", "2019-12-31T00:00:00Z")).toBe(3);
    expect(count("--limit", "1")).toBe(1);
    expect(scene.reeve(["history", "--limit", "1"]).stdout).toContain("decision=new");
  });

  test.each([
    [["--event", "task.finishd"], "task.finished"],
    [["--since", "yesterday"], "30m"],
    [["--limit", "few"], "whole number"],
    [["--all", "--limit", "2"], "exclude"],
  ])("refuses %j", (args, says) => {
    const failure = failureOf(scene.reeve(["history", ...args, "--json"]));
    expect(failure).toMatchObject({ code: "USAGE", exit: 2 });
    expect(`${failure.message} ${failure.hint}`).toContain(says);
  });

  test("shows twenty unless asked for more", () => {
    const own = makeScene({ layer: true });
    fill(own, 30);
    expect(rowsOf(own.reeve(["history"]).stdout)).toHaveLength(20);
    expect(rowsOf(own.reeve(["history", "--all"]).stdout)).toHaveLength(30);
  });

  test("--follow prints what is appended, and ends when interrupted", async () => {
    const child = spawn(program, ["history", "--follow", "--limit", "1", "--json"], {
      cwd: scene.repo,
      env: { ...scene.env },
    });
    let seen = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      seen += text;
    });
    while (!seen.includes("\n")) await once(child.stdout, "data");
    expect(scene.reeve(["decision", "add", "followed", "--why", "w"]).exit).toBe(0);
    while (!seen.includes("followed")) await once(child.stdout, "data");
    child.kill("SIGINT");
    await once(child, "close");
    expect(rowsOf(seen).map((row) => (JSON.parse(row) as { decision: string }).decision)).toEqual(["new", "followed"]);
  });
});

describe("a damaged ledger", () => {
  test("with a torn last line is reported with its line, every other line counts, the next command goes on", () => {
    const scene = makeScene({ layer: true });
    fill(scene, 3);
    fs.appendFileSync(scene.at(ledger), line({ decision: "torn" }).slice(0, 40));
    expect(rowsOf(scene.reeve(["history"]).stdout)).toHaveLength(3);
    for (const args of [["history", "--validate"], ["doctor"]]) {
      const found = onlyFailure(scene.reeve([...args, "--json"]));
      expect(found.subject).toBe(`${ledger}:4`);
    }
    expect(scene.reeve(["decision", "add", "after", "--why", "w"]).exit).toBe(0);
    const rows = rowsOf(scene.reeve(["history", "--json"]).stdout);
    expect(rows).toHaveLength(4);
    expect(rows.at(-1)).toContain("after");
  });

  test("with a merge conflict in it names each mark and drops nothing", () => {
    const scene = makeScene({ layer: true });
    scene.write(
      ledger,
      `${line({ decision: "a" })}<<<<<<< ours\n${line({ decision: "b" })}=======\n${line({ decision: "c" })}>>>>>>> theirs\n`,
    );
    const before = scene.read(ledger);
    const failed = ofLevel(scene.reeve(["history", "--validate", "--json"]), "FAIL");
    expect(failed.map((finding) => finding.subject)).toEqual([`${ledger}:2`, `${ledger}:4`, `${ledger}:6`]);
    expect(rowsOf(scene.reeve(["history"]).stdout)).toHaveLength(3);
    expect(scene.reeve(["doctor"]).exit).toBe(10);
    expect(scene.reeve(["decision", "add", "d", "--why", "w"]).exit).toBe(0);
    expect(scene.read(ledger).startsWith(before)).toBe(true);
  });

  test.each([
    ["no object", "[1]\n"],
    ["no event", '{"ts":"2020-01-01T00:00:00Z"}\n'],
    ["no time", '{"event":"decision.recorded","decision":"x"}\n'],
    ["a payload that lacks a member", line({ event: "task.finished" })],
    ["a key twice", '{"ts":"2020-01-01T00:00:00Z","event":"decision.recorded","decision":"x","decision":"y"}\n'],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x0a])],
  ])("with a line of %s exits 10", (_, bytes) => {
    const scene = makeScene({ layer: true });
    fill(scene, 1);
    expect(scene.reeve(["history", "--validate"]).exit).toBe(0);
    fs.appendFileSync(scene.at(ledger), bytes);
    const said = scene.reeve(["history", "--validate", "--json"]);
    expect(said.exit).toBe(10);
    expect(onlyFailure(said).subject).toBe(`${ledger}:2`);
  });

  test("an event of a newer Reeve is no damage", () => {
    const scene = makeScene({ layer: true });
    scene.write(ledger, line({ event: "moon.rose", phase: 3 }));
    expect(scene.reeve(["history", "--validate"]).exit).toBe(0);
    expect(rowsOf(scene.reeve(["history"]).stdout)).toHaveLength(1);
  });
});

describe("a ledger over its cap", () => {
  function cap(rotate: string): Scene {
    const scene = makeScene({ layer: true });
    const policy = scene.read(".ai/repo/policy.yaml");
    const changed = policy
      .replace("retention_max_lines: 5000", "retention_max_lines: 20")
      .replace("rotate: auto", `rotate: ${rotate}`);
    scene.write(".ai/repo/policy.yaml", changed);
    fill(scene, 50);
    return scene;
  }

  test("is rotated by the next writing command, no line lost", () => {
    const scene = cap("auto");
    expect(
      foundIn(scene.reeve(["doctor", "--rule", "retention-caps", "--json"])).some((one) => one.level === "INFO"),
    ).toBe(true);
    expect(scene.reeve(["decision", "add", "next", "--why", "w"]).exit).toBe(0);
    expect(rowsOf(scene.read(ledger)).length).toBeLessThanOrEqual(20);
    const all = rowsOf(scene.reeve(["history", "--all", "--json"]).stdout);
    expect(all).toHaveLength(52);
    expect(all.slice(0, 50).map((row) => (JSON.parse(row) as { decision: string }).decision)).toEqual(
      Array.from({ length: 50 }, (_, index) => `d${index}`),
    );
    expect(scene.ledger().at(-1)).toMatchObject({ event: "ledger.rotated" });
  });

  test("with rotation off fails doctor until history --rotate", () => {
    const scene = cap("off");
    expect(onlyFailure(scene.reeve(["doctor", "--json"])).category).toBe("retention");
    expect(scene.reeve(["history", "--rotate", "--dry-run"]).exit).toBe(0);
    expect(rowsOf(scene.read(ledger))).toHaveLength(50);
    const { rotated } = resultOf(scene.reeve(["history", "--rotate", "--json"])) as { rotated: { archive: string } };
    expect(rowsOf(scene.read(rotated.archive))).not.toHaveLength(0);
    expect(scene.reeve(["doctor"]).exit).toBe(0);
    expect(scene.reeve(["history", "--rotate"]).stdout).toContain("within its cap");
    expect(rowsOf(scene.reeve(["history", "--all"]).stdout)).toHaveLength(51);
  });
});
