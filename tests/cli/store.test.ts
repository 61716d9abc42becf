import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, foundIn, onlyFailure, resultOf, rowsOf } from "../answers.ts";
import { makeScene } from "../scene.ts";

const ledger = ".ai/local/state/ledger.jsonl";
const good = '{"id":"a","n":1}\n{"id":"b","n":1}\n{"id":"a","n":2}\n';
const damaged = '{"id":"a","n":1}\n{"id":"b\n{"id":"a","n":2}\n\u0000\n{"id":"c"';

describe("reeve store list", () => {
  test("shows the layer's files of lines, those that are not there yet included", () => {
    const scene = makeScene({ layer: true });
    const rows = rowsOf(scene.reeve(["store", "list"]).stdout);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/^\.ai\/repo\/state\.jsonl +store +not there yet$/);
    expect(rows[1]).toMatch(/^\.ai\/local\/state\/ledger\.jsonl +log +not there yet$/);
    expect(scene.reeve(["decision", "add", "x", "--why", "y"]).exit).toBe(0);
    const bytes = Buffer.byteLength(scene.read(ledger));
    const listed = { path: ledger, holds: "log", exists: true, bytes, lines: 1, entries: 1, keys: null, damaged: 0 };
    const absent = {
      path: ".ai/repo/state.jsonl",
      holds: "store",
      exists: false,
      bytes: 0,
      lines: 0,
      entries: 0,
      keys: 0,
      damaged: 0,
    };
    expect(resultOf(scene.reeve(["store", "list", "--json"]))).toEqual({ stores: [absent, listed] });
  });

  test("finds rotated files, and counts what is damaged", () => {
    const scene = makeScene({ layer: true });
    scene.write(ledger, '{"a":1}\nnot a line\n');
    scene.write(".ai/local/state/ledger.20300101T000000Z.archived", '{"a":1}\n');
    scene.write(`${ledger}.damaged`, "not a line\n");
    const rows = rowsOf(scene.reeve(["store", "list"]).stdout).slice(1);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain("1 entry, 19 bytes, 1 damaged line: reeve store verify");
    expect(rows[1]).toMatch(/^\.ai\/local\/state\/ledger\.20300101T000000Z\.archived +log +1 entry, 8 bytes$/);
  });

  test("needs a layer", () => {
    const scene = makeScene();
    expect(failureOf(scene.reeve(["store", "list", "--json"]))).toMatchObject({ code: "NO_LAYER" });
  });
});

describe("reeve store verify", () => {
  test("names every damaged line by number, inside a repository or not, and exits 10", () => {
    const scene = makeScene();
    for (const cwd of [scene.repo, `${scene.folder}/home`]) {
      fs.writeFileSync(`${cwd}/jobs.jsonl`, damaged);
      const answer = scene.reeve(["store", "verify", "jobs.jsonl", "--key", "id", "--json"], { cwd });
      expect(answer.exit).toBe(10);
      const failing = foundIn(answer).filter(({ level }) => level === "FAIL");
      expect(failing.map(({ subject, message }) => [subject, message.split(";")[0]])).toEqual([
        ["jobs.jsonl:2", "column 9: unexpected end"],
        ["jobs.jsonl:4", "NUL byte"],
        ["jobs.jsonl:5", "torn"],
      ]);
      expect(failing[0]?.next).toBe("reeve store repair jobs.jsonl --key id");
      expect(fs.readdirSync(cwd).filter((name) => name.startsWith("jobs"))).toEqual(["jobs.jsonl"]);
    }
  });

  test("passes what is sound, and says what was read", () => {
    const scene = makeScene();
    scene.write("jobs.jsonl", good);
    const answer = scene.reeve(["store", "verify", "jobs.jsonl", "--key", "id", "--verbose"]);
    expect(answer).toMatchObject({ exit: 0, stderr: "" });
    expect(answer.stdout).toContain(
      "jobs.jsonl — 3 well-formed lines, 2 keys, 51 bytes; reeve store compact would leave 2 lines",
    );
  });

  test("reads all of the layer's without a path, and doctor points to the repair", () => {
    const scene = makeScene({ layer: true });
    scene.write(ledger, "not a line\n");
    expect(onlyFailure(scene.reeve(["store", "verify", "--json"]))).toMatchObject({ subject: `${ledger}:1` });
    expect(scene.reeve(["doctor"]).stdout).toContain(`next: reeve store repair ${ledger}`);
  });

  test("a key that is missing is damage in a store and none in a log", () => {
    const scene = makeScene();
    scene.write("x.jsonl", '{"n":1}\n');
    expect(scene.reeve(["store", "verify", "x.jsonl"]).exit).toBe(0);
    expect(scene.reeve(["store", "verify", "x.jsonl", "--key", "id"]).stdout).toContain(
      'the key member "id" is missing',
    );
  });

  test.each([
    ["absent.jsonl", "MISSING_FILE"],
    ["folder.jsonl", "REFUSED"],
    ["link.jsonl", "REFUSED"],
    ["dangling.jsonl", "REFUSED"],
    ["pipe.jsonl", "REFUSED"],
  ])("refuses %s", (name, code) => {
    const scene = makeScene();
    scene.write("real.jsonl", good);
    fs.symlinkSync("real.jsonl", `${scene.repo}/link.jsonl`);
    fs.mkdirSync(`${scene.repo}/folder.jsonl`);
    fs.symlinkSync("nowhere", `${scene.repo}/dangling.jsonl`);
    expect(scene.sh("mkfifo pipe.jsonl").exit).toBe(0);
    const failure = failureOf(scene.reeve(["store", "verify", name, "--json"]));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(name);
  });
});

describe("reeve store show", () => {
  test("prints what each key has now, or one entry", () => {
    const scene = makeScene();
    scene.write("jobs.jsonl", `${good}{"id":"b","$deleted":true}\n`);
    expect(scene.reeve(["store", "show", "jobs.jsonl", "--key", "id"]).stdout).toBe('{"id":"a","n":2}\n');
    expect(scene.reeve(["store", "show", "jobs.jsonl", "a"]).stdout).toBe('{"id":"a","n":2}\n');
    expect(failureOf(scene.reeve(["store", "show", "jobs.jsonl", "b", "--json"]))).toMatchObject({ code: "NOT_FOUND" });
  });

  test("prints a log's lines as they stand, and passes damaged ones by", () => {
    const scene = makeScene();
    scene.write("log.jsonl", `{ "b":1,"a":2 }\nx\n{"c":"é"}\n`);
    expect(scene.reeve(["store", "show", "log.jsonl"]).stdout).toBe('{ "b":1,"a":2 }\n{"c":"é"}\n');
  });
});

describe("reeve store repair", () => {
  test("moves damaged lines byte for byte and leaves every other one where it is", () => {
    const scene = makeScene();
    scene.write("my jobs.jsonl", damaged);
    const planned = resultOf(scene.reeve(["store", "repair", "my jobs.jsonl", "--key", "id", "--dry-run", "--json"]));
    expect(planned).toMatchObject({ dry_run: true });
    expect(scene.read("my jobs.jsonl")).toBe(damaged);
    const done = resultOf(scene.reeve(["store", "repair", "my jobs.jsonl", "--key", "id", "--json"]));
    expect(done).toEqual({ ...planned, dry_run: false });
    expect(scene.read("my jobs.jsonl")).toBe('{"id":"a","n":1}\n{"id":"a","n":2}\n');
    expect(scene.read("my jobs.jsonl.damaged")).toBe('{"id":"b\n\u0000\n{"id":"c"\n');
    const again = scene.reeve(["store", "repair", "my jobs.jsonl", "--key", "id"]);
    expect(again.stdout).toBe("my jobs.jsonl: no line is damaged; nothing was changed\n");
  });

  test("mends the ledger under the layer's lock", async () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["decision", "add", "x", "--why", "y"]).exit).toBe(0);
    const sound = scene.read(ledger);
    scene.write(ledger, `torn\n${sound}`);
    const holder = spawn(process.execPath, ["-e", holding, `${scene.repo}/.ai/local/run/layer.lock`], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    const repair = scene.begin(["store", "repair", ledger]);
    const early = await Promise.race([repair.ended, once(holder.stdout, "data").then(() => "waiting")]);
    expect(early).toBe("waiting");
    holder.stdin.end();
    await once(holder, "exit");
    expect(await repair.ended).toMatchObject({ exit: 0, stderr: "" });
    expect(scene.read(ledger)).toBe(sound);
    expect(scene.read(`${ledger}.damaged`)).toBe("torn\n");
    expect(scene.reeve(["doctor"]).exit).toBe(0);
  });
});

/** Holds a lock that names this very process; says so, and once more when somebody waits; ends with its input. */
const holding = `
  const fs = require("node:fs");
  const lock = process.argv[1];
  const start = fs.readFileSync("/proc/self/stat", "utf8").split(") ").pop().split(" ")[19];
  fs.symlinkSync(process.pid + "@" + start + "@" + "0".repeat(24), lock);
  console.log("held");
  const timer = setInterval(() => {
    if (fs.lstatSync(lock + ".wait", { throwIfNoEntry: false })) console.log("waited for");
  }, 5);
  process.stdin.on("end", () => { clearInterval(timer); fs.unlinkSync(lock); }).resume();
`;

describe("reeve store compact", () => {
  test("leaves one line for each key, and says what it would do first", () => {
    const scene = makeScene();
    scene.write("jobs.jsonl", good);
    const planned = scene.reeve(["store", "compact", "jobs.jsonl", "--key", "id", "-n"]);
    expect(planned.stdout).toBe("jobs.jsonl: would go from 3 lines to 2, 51 bytes to 34\n");
    expect(scene.read("jobs.jsonl")).toBe(good);
    expect(scene.reeve(["store", "compact", "jobs.jsonl", "--key", "id"]).stdout).toContain("went from 3 lines to 2");
    expect(scene.read("jobs.jsonl")).toBe('{"id":"a","n":2}\n{"id":"b","n":1}\n');
    expect(fs.readdirSync(scene.repo).filter((name) => name.startsWith("jobs"))).toEqual(["jobs.jsonl"]);
  });

  test("refuses a log, and a file whose key it does not know", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["decision", "add", "x", "--why", "y"]).exit).toBe(0);
    const before = scene.read(ledger);
    expect(failureOf(scene.reeve(["store", "compact", ledger, "--json"]))).toMatchObject({ code: "REFUSED" });
    expect(scene.read(ledger)).toBe(before);
    scene.write("jobs.jsonl", good);
    const failure = failureOf(scene.reeve(["store", "compact", "jobs.jsonl", "--json"]));
    expect(failure).toMatchObject({ code: "USAGE", hint: "reeve store compact jobs.jsonl --key <member>" });
  });

  test("says who holds the lock", () => {
    const scene = makeScene();
    scene.write("jobs.jsonl", good);
    const held = scene.sh(`ln -s "$$@0@${"0".repeat(24)}" jobs.jsonl.lock; readlink jobs.jsonl.lock`);
    expect(held.exit).toBe(0);
    const answer = scene.reeve(["store", "compact", "jobs.jsonl", "--key", "id", "--json"]);
    expect(failureOf(answer)).toMatchObject({ code: "LOCK_HELD" });
    expect(scene.read("jobs.jsonl")).toBe(good);
  });
});
