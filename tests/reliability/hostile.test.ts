import * as fs from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { findDisagreements, parseRows, readFacts } from "./agreement.ts";
import { keepCopy } from "./fault.ts";

const timeout = 600_000;
const ledger = ".ai/local/state/ledger.jsonl";
const decisions = ".ai/local/state/decisions.md";

interface Damage {
  readonly name: string;
  readonly do: (bytes: Buffer, at: number) => Buffer;
}

function insert(bytes: Buffer, at: number, what: Buffer | string): Buffer {
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(what), bytes.subarray(at)]);
}

/** Where the line that holds this byte begins. */
function lineAt(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf("\n", at - 1) + 1;
}

const damages: readonly Damage[] = [
  { name: "cut off", do: (bytes, at) => bytes.subarray(0, at) },
  { name: "a NUL byte", do: (bytes, at) => insert(bytes, at, "\0") },
  { name: "a block of NUL bytes at the end", do: (bytes, at) => insert(bytes, bytes.length, Buffer.alloc(at + 1)) },
  { name: "invalid UTF-8", do: (bytes, at) => insert(bytes, at, Buffer.from([0xff, 0xc0, 0x80])) },
  { name: "a byte order mark", do: (bytes) => insert(bytes, 0, "\u{feff}") },
  { name: "CRLF", do: (bytes) => Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1") },
  {
    name: "a merge conflict",
    do: (bytes, at) => insert(bytes, lineAt(bytes, at), "<<<<<<< HEAD\n=======\n{}\n>>>>>>> topic\n"),
  },
  {
    name: "a line of another kind",
    do: (bytes, at) => insert(bytes, lineAt(bytes, at), '{"__proto__":{"event":1}}\n'),
  },
  { name: "a deep line", do: (bytes, at) => insert(bytes, lineAt(bytes, at), `${"[".repeat(50_000)}\n`) },
  { name: "a long line", do: (bytes, at) => insert(bytes, lineAt(bytes, at), `${"x".repeat(2_000_000)}\n`) },
  { name: "a tab", do: (bytes, at) => insert(bytes, lineAt(bytes, at), "\t") },
  { name: "a comment that never ends", do: (bytes, at) => insert(bytes, lineAt(bytes, at), "<!--\n") },
  {
    name: "a flipped bit",
    do: (bytes, at) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 0x20;
      return copy;
    },
  },
  { name: "nothing at all", do: () => Buffer.alloc(0) },
];

const commands: readonly (readonly string[])[] = [
  ["status", "--json"],
  ["history", "--all", "--json"],
  ["doctor", "--json"],
  ["check", "--json"],
  ["decision", "list", "--json"],
  ["question", "list", "--json"],
  ["handover", "--show", "--json"],
  ["handover", "--list", "--json"],
  ["history", "--validate", "--json"],
];

function makeFull(): Scene {
  const scene = makeScene({ layer: true });
  const steps: readonly (readonly string[])[] = [
    ["start", "fix", "--scope", "src/auth"],
    ["question", "add", "is it so?"],
    ["decision", "add", "one", "--why", "w"],
    ["handover", "--derive"],
    ["decision", "add", "two", "--why", "w"],
  ];
  for (const args of steps) expect(scene.reeve(args).exit, args.join(" ")).toBe(0);
  return scene;
}

/** The answer is one of the product's, whole, and no internal error. */
function expectAnswer(scene: Scene, args: readonly string[], where: string): string {
  const { exit, stdout, stderr } = scene.reeve(args);
  const said = `${where}: ${args.join(" ")}: exit ${exit}\n${stdout.slice(0, 2000)}${stderr.slice(0, 2000)}`;
  expect([0, 10, 11, 12, 15], said).toContain(exit);
  expect(stderr, said).not.toMatch(/^ {4}at /m);
  if (args.includes("--json")) expect(parseRows(stdout).torn, said).toEqual([]);
  return stdout;
}

/** Ledger lines that stand whole in the file are all read back. */
function expectLines(before: readonly string[], stdout: string, scene: Scene, where: string): void {
  const standing = new Set(scene.read(ledger).split("\n"));
  const shown = new Set(stdout.split("\n"));
  const whole = before.filter((line) => standing.has(line));
  expect(
    whole.filter((line) => !shown.has(line)),
    where,
  ).toEqual([]);
}

/** A writer adds at the end or not at all. */
function expectAppend(scene: Scene, where: string): void {
  const bytes = [ledger, decisions].map((file) => fs.readFileSync(scene.at(file)));
  const args = ["decision", "add", "three", "--why", "w"];
  const { exit, stdout, stderr } = scene.reeve(args);
  const said = `${where}: decision add: exit ${exit}\n${stdout.slice(0, 2000)}${stderr.slice(0, 2000)}`;
  expect([0, 10, 11, 12, 15], said).toContain(exit);
  [ledger, decisions].forEach((file, index) => {
    const old = bytes[index] ?? Buffer.alloc(0);
    const now = fs.readFileSync(scene.at(file));
    expect(now.subarray(0, old.length).equals(old), `${said}: ${file} begins as it did`).toBe(true);
    if (exit !== 0) expect(now.length, `${said}: ${file}`).toBe(old.length);
    else expect(now.subarray(old.length).toString(), `${said}: ${file}`).toContain("three");
  });
  if (exit !== 0) return;
  const last = scene.read(ledger).split("\n").at(-2) ?? "";
  expect(JSON.parse(last), said).toMatchObject({ event: "decision.recorded", decision: "three" });
}

function findFiles(scene: Scene): readonly string[] {
  const [handover = ""] = fs.readdirSync(scene.at(".ai/local/state/handovers"));
  const state = ["current.yaml", "open-questions.md", `handovers/${handover}`].map((name) => `.ai/local/state/${name}`);
  return [ledger, decisions, ...state, ".ai/repo/policy.yaml"];
}

describe("hostile bytes in a record", () => {
  test("never make a command fail inside, print what does not parse, or lose a whole line", { timeout }, () => {
    const scene = makeFull();
    const files = findFiles(scene);
    const restore = keepCopy(scene, [scene.at(".git/reeve"), scene.at(".ai/repo")]);
    const before = scene.read(ledger).split("\n").slice(0, -1);
    let turn = 0;
    const property = fc.property(
      fc.constantFrom(...files),
      fc.constantFrom(...damages),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (file, damage, where) => {
        restore();
        const bytes = fs.readFileSync(scene.at(file));
        fs.writeFileSync(scene.at(file), damage.do(bytes, Math.floor(where * bytes.length)));
        const said = `${damage.name} in ${file}, at ${Math.floor(where * bytes.length)} of ${bytes.length}`;
        const asked = [0, 1].map((step) => commands[(turn + step) % commands.length] ?? []);
        turn += 2;
        for (const args of asked) expectAnswer(scene, args, said);
        if (file === ledger) {
          expectLines(before, expectAnswer(scene, ["history", "--all", "--json"], said), scene, said);
        }
        expectAppend(scene, said);
      },
    );
    fc.assert(property, { numRuns: 40, seed: 20_260_101, endOnFailure: true });
  });

  test("are met by every command, one damage of each kind in each file", { timeout }, () => {
    const scene = makeFull();
    const files = findFiles(scene);
    const restore = keepCopy(scene, [scene.at(".git/reeve"), scene.at(".ai/repo")]);
    const before = scene.read(ledger).split("\n").slice(0, -1);
    let turn = 0;
    for (const damage of damages) {
      for (const file of files) {
        restore();
        const bytes = fs.readFileSync(scene.at(file));
        const at = Math.floor(bytes.length * 0.7);
        fs.writeFileSync(scene.at(file), damage.do(bytes, at));
        const said = `${damage.name} in ${file}, at ${at} of ${bytes.length}`;
        const args = commands[turn % commands.length] ?? [];
        turn += 1;
        const stdout = expectAnswer(scene, args, said);
        if (args.includes("--all") && file === ledger) expectLines(before, stdout, scene, said);
      }
    }
  });
});

describe("a ledger whose last line was torn", () => {
  test("keeps a whole entry that lost only its newline, and the next one", { timeout }, () => {
    const scene = makeFull();
    const text = scene.read(ledger);
    fs.writeFileSync(scene.at(ledger), text.slice(0, -1));
    expect(scene.reeve(["decision", "add", "three", "--why", "w"]).exit).toBe(0);
    const facts = readFacts(scene.repo);
    expect(scene.read(ledger).startsWith(text)).toBe(true);
    expect(findDisagreements(facts)).toEqual([]);
    expect(scene.reeve(["history", "--validate"]).exit).toBe(0);
  });

  test("keeps the torn half as a line of its own and never glues the next one to it", { timeout }, () => {
    const scene = makeFull();
    const text = scene.read(ledger);
    const torn = text.slice(0, -40);
    fs.writeFileSync(scene.at(ledger), torn);
    expect(scene.reeve(["history", "--json"]).exit).toBe(0);
    expect(scene.read(ledger)).toBe(torn);
    expect(scene.reeve(["decision", "add", "three", "--why", "w"]).exit).toBe(0);
    expect(scene.read(ledger).startsWith(`${torn}\n{`)).toBe(true);
    const validated = scene.reeve(["history", "--validate"]);
    expect(validated.exit).toBe(10);
    expect(validated.stdout).toContain(`${ledger}:5`);
    const { rows } = parseRows(scene.reeve(["history", "--all", "--json"]).stdout);
    expect(rows.map((row) => row["decision"]).filter((name) => name !== undefined)).toEqual(["one", "three"]);
  });
});
