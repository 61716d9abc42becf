import * as fs from "node:fs";
import * as path from "node:path";
import { registry } from "@reeve/commands/registry.ts";
import { exitCodes } from "@reeve/core/findings/exit.ts";
import { withLock } from "@reeve/store";
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, foundIn, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const note = "# Objective\n\nx\n\n# Current State\n\nx\n\n# Next Action\n\nx\n";

let scene: Scene;
beforeAll(() => {
  scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
  expect(scene.reeve(["decision", "add", "d", "--why", "w"]).exit).toBe(0);
  expect(scene.reeve(["question", "add", "q?"]).exit).toBe(0);
});

/** Every command with a value, in an order in which each succeeds; the name it is registered under comes first. */
const valued: readonly (readonly [name: string, args: readonly string[], input?: string])[] = [
  ["", []],
  ["status", ["status"]],
  ["init", ["init", "--extend"]],
  ["checkpoint", ["checkpoint"], "so far\n"],
  ["checkpoint", ["checkpoint", "--show"]],
  ["checkpoint", ["checkpoint", "--list"]],
  ["handover", ["handover"], note],
  ["handover", ["handover", "--resolve"]],
  ["handover", ["handover", "--list"]],
  ["decision add", ["decision", "add", "e", "--why", "w"]],
  ["decision list", ["decision", "list"]],
  ["decision show", ["decision", "show", "d"]],
  ["question add", ["question", "add", "r?"]],
  ["question list", ["question", "list"]],
  ["question resolve", ["question", "resolve", "1", "--answer", "a"]],
  ["help", ["help"]],
  ["completion", ["completion", "bash"]],
  ["version", ["version"]],
  ["store list", ["store", "list"]],
  ["store compact", ["store", "compact"]],
  ["store repair", ["store", "repair", ".ai/local/state/ledger.jsonl"]],
  ["state", ["state"]],
  ["state list", ["state", "list", "--group", "records"]],
  ["state explain", ["state", "explain", ".ai/local/secrets/x"]],
  ["state export", ["state", "export", "../layer.tgz"]],
  ["state import", ["state", "import", "../layer.tgz", "--preview"]],
  ["state backup", ["state", "backup", "../backup"]],
  ["state clean", ["state", "clean"]],
  ["state journal", ["state", "journal"]],
  ["memory lint", ["memory", "lint", "src"]],
  ["handover", ["handover", "--derive", "--close"]],
  ["start", ["start", "next", "--scope", "src"]],
];

describe("--json", () => {
  test.each(valued.map(([name, args, input]) => ({ name, args, input, line: args.join(" ") })))(
    "reeve $line answers {ok, result} with the members it declares",
    async ({ name, args, input }) => {
      const result = resultOf(scene.reeve([...args, "--json"], input === undefined ? {} : { input }));
      const command = await registry.find((entry) => entry.name === name)?.load();
      expect(command?.output).toBe("value");
      const declared = Object.keys(command?.result ?? {});
      expect(Object.keys(result).filter((member) => !declared.includes(member))).toEqual([]);
    },
  );

  test.each([
    ["check"],
    ["doctor"],
    ["finish", "--check"],
    ["history", "--validate"],
    ["check", "--overlap"],
    ["store", "verify"],
    ["state", "check"],
  ])("%s %s answers one finding a line", (...args) => {
    const said = scene.reeve([...args, "--json"]);
    const found = foundIn(said);
    expect(found.length).toBeGreaterThan(0);
    for (const finding of found) {
      expect(Object.keys(finding).sort()).toEqual(
        ["category", "level", "message", "next", "reproduce", "subject"].filter((key) => Object.hasOwn(finding, key)),
      );
      for (const key of ["level", "category", "subject", "message"]) expect(Object.hasOwn(finding, key)).toBe(true);
      expect(finding.level).toMatch(/^(?:OK|INFO|WARN|FAIL|DRIFT|REFUSE)$/);
      if (!/^(?:OK|INFO)$/.test(finding.level)) expect(finding.reproduce, JSON.stringify(finding)).toBeDefined();
    }
  });

  test("covers every registered command", () => {
    const found = ["check", "doctor", "finish", "history", "store verify", "state check"];
    // Its answers are lines; and an episode to put back has to be made first, as its own tests do.
    const elsewhere = ["store show", "state rollback"];
    const covered = new Set([...valued.map(([name]) => name), ...found, ...elsewhere]);
    expect(registry.map((entry) => entry.name).filter((name) => !covered.has(name))).toEqual([]);
  });

  test.each([
    [["nope"], "UNKNOWN_COMMAND"],
    [["check", "--nope"], "USAGE"],
    [["decision"], "UNKNOWN_COMMAND"],
    [["start", "x"], "USAGE"],
    [["help", "nope"], "UNKNOWN_COMMAND"],
    [["--repo", "/nonexistent", "status"], "NOT_A_REPOSITORY"],
    [["--repo", "tpyo", "status"], "NOT_A_REPOSITORY"],
    [["status", "--repo="], "USAGE"],
    [["start", "x", "--scope", "../x"], "TASK_ACTIVE"],
    [["decision", "show", "zzz"], "NOT_FOUND"],
  ])("%j fails as one object on standard output", (args, code) => {
    expect(failureOf(scene.reeve([...args, "--json"])).code).toBe(code);
    expect(failureOf(scene.reeve(["--json", ...args])).code).toBe(code);
  });

  test("a dry run of every writing command prints a plan and changes nothing", () => {
    const before = scene.sh("find .ai/local/ .ai/repo -type f ! -path '*/cache/*' | sort | xargs sha256sum").stdout;
    const writing = valued.filter(([name]) => /^(?:init|checkpoint|handover|decision add|question add)$/.test(name));
    for (const [name, args, input] of writing) {
      if (args.some((word) => /^--(?:show|list|resolve)$/.test(word))) continue;
      const words = name === "decision add" ? args.with(2, "another") : args;
      const said = scene.reeve([...words, "--dry-run", "--json"], input === undefined ? {} : { input });
      expect(resultOf(said)["plan"], words.join(" ")).toBeInstanceOf(Array);
    }
    expect(scene.sh("find .ai/local/ .ai/repo -type f ! -path '*/cache/*' | sort | xargs sha256sum").stdout).toBe(
      before,
    );
  });
});

describe("exit codes", () => {
  const expected = {
    OK: 0,
    USAGE: 2,
    NOTHING_FIT: 3,
    CONTRACT_UNMET: 10,
    DRIFT_FOUND: 11,
    MISSING_ARTIFACT: 12,
    INTERNAL_ERROR: 13,
    BUSY: 14,
    REFUSED: 15,
  };

  test("are the table of the product", () => {
    expect(exitCodes).toEqual(expected);
  });

  test.each([
    [0, ["version"]],
    [2, ["nope"]],
    [12, ["decision", "show", "zzz"]],
    [15, ["init"]],
  ])("%i", (exit, args) => {
    expect(scene.reeve(args).exit).toBe(exit);
  });

  test("14 while another process holds the layer's lock, and nothing is written", async () => {
    const own = makeScene({ layer: true });
    const lock = fs.realpathSync(own.at(".ai/local/run"));
    const answer = await withLock(
      path.join(lock, "layer.lock"),
      {},
      () => own.begin(["decision", "add", "x", "--why", "w", "--json"]).ended,
    );
    expect(failureOf(answer)).toMatchObject({ code: "LOCK_HELD", exit: 14 });
    expect(own.ledger()).toEqual([]);
    expect(own.reeve(["decision", "add", "x", "--why", "w"]).exit).toBe(0);
  });

  test("usage errors go to standard error, refusals to standard output", () => {
    expect(scene.reeve(["nope"])).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/^reeve: .*\n {2}next: /),
    });
    expect(scene.reeve(["init"])).toMatchObject({
      stderr: "",
      stdout: expect.stringMatching(/^reeve: .*\n {2}next: /),
    });
  });
});

describe("a terminal, and none", () => {
  const colour = "\u001b[";
  const onTerminal = (command: string): string =>
    scene.sh(`script -qec '${command}' /dev/null`, { env: { TERM: "xterm-256color" } }).stdout;

  test("colours the level on a terminal alone, never with NO_COLOR or TERM=dumb", () => {
    expect(onTerminal("reeve check --verbose")).toContain(colour);
    expect(onTerminal("NO_COLOR=1 reeve check --verbose")).not.toContain(colour);
    expect(onTerminal("TERM=dumb reeve check --verbose")).not.toContain(colour);
    expect(onTerminal("reeve check --json")).not.toContain(colour);
    expect(scene.reeve(["check", "--verbose"]).stdout).not.toContain(colour);
  });

  test("a finding is one line of the fixed form", () => {
    scene.write("odd\nname.txt", "x");
    const rows = rowsOf(scene.reeve(["check"]).stdout).filter(
      (row) => !row.startsWith("  next: ") && !/^check: /.test(row),
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toMatch(/^(?:WARN|FAIL) \w+ .+ — .+ {2}\[reproduce: .+\]$/);
    fs.rmSync(scene.at("odd\nname.txt"));
  });
});

describe("a reader that goes away", () => {
  test("is no error and prints nothing on standard error", () => {
    const own = makeScene({ layer: true });
    const row = `{"ts":"2020-01-01T00:00:00Z","event":"decision.recorded","decision":"${"x".repeat(200)}"}\n`;
    own.write(".ai/local/state/ledger.jsonl", row.repeat(4000));
    for (const command of ["history --all", "history --all --json", "history --all --follow"]) {
      const said = own.sh(`{ reeve ${command}; echo "exit $?" >&3; } 3>../exit | head -n 1`);
      expect(rowsOf(said.stdout)).toHaveLength(1);
      expect(said.stderr).toBe("");
      expect(fs.readFileSync(`${own.folder}/exit`, "utf8")).toBe("exit 0\n");
    }
  });

  test("is told apart from a full disk, which is said in one line with a code of the table", () => {
    for (const command of ["status", "status --json", "nope --json", "help"]) {
      const said = scene.sh(`reeve ${command} > /dev/full`);
      expect([2, 13], command).toContain(said.exit);
      expect(said.stderr, command).not.toMatch(/^\s+at /m);
      expect(said.stderr, command).toMatch(/^reeve: /m);
    }
  });

  test("does not turn a failing check into a passing one", () => {
    scene.write("stray.txt", "x");
    scene.sh('{ reeve check; echo "exit $?" >&3; } 3>../exit | true');
    expect(fs.readFileSync(`${scene.folder}/exit`, "utf8")).toBe("exit 10\n");
    fs.rmSync(scene.at("stray.txt"));
  });
});

describe("switches", () => {
  test("REEVE_TIMING=1 prints phases and counts on standard error", () => {
    const said = scene.reeve(["check"], { env: { REEVE_TIMING: "1" } });
    expect(said.stderr).toMatch(/^TIMING\n(?:phase [\d.]+ \d+ x \w+\n)+count \d+ git\n$/);
    const git = Number(/count (\d+) git/.exec(said.stderr)?.[1]);
    expect(git).toBeLessThanOrEqual(2);
  });

  test("check and doctor start at most two git processes, and read the same without any help", () => {
    const count = "count=$(cat ../calls | wc -l); : > ../calls; echo $count";
    const wrapper = `#!/bin/sh\necho "$*" >> ${scene.folder}/calls\nexec ${scene.sh("command -v git").stdout.trim()} "$@"\n`;
    fs.writeFileSync(`${scene.folder}/git-wrapper`, wrapper, { mode: 0o755 });
    fs.mkdirSync(`${scene.folder}/wrapped`);
    fs.renameSync(`${scene.folder}/git-wrapper`, `${scene.folder}/wrapped/git`);
    const env = { PATH: `${scene.folder}/wrapped:${scene.env["PATH"]}` };
    for (const command of ["check", "doctor"]) {
      scene.sh(": > ../calls");
      expect(scene.reeve([command], { env }).exit).toBe(0);
      expect(Number(scene.sh(count).stdout), command).toBeLessThanOrEqual(2);
    }
  });
});
