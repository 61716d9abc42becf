import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTree } from "../testing/tree.ts";
import { type Api, differing, type Moment, type Subject } from "./subject.ts";

/** The number of the plan that is applied; every file it leaves tells of it. */
export interface PlanStep {
  readonly n: number;
}

type Change = Parameters<Api["applyPlan"]>[0]["changes"][number];

/** What lies where: a file's text, a link's target after an arrow, `/` for a folder. */
type Files = ReadonlyMap<string, string>;

/** Plans of many changes of every kind, and every fourth of a single one. */
export const planSubject: Subject<PlanStep> = {
  name: "plans",
  steps: (size) => Array.from({ length: size }, (_, at) => ({ n: at + 1 })),
  prepare: (root) => {
    mkdirSync(join(root, "work"));
    for (const [path, text] of filesAfter(0)) place(join(root, "work", path), text);
    writeFileSync(join(root, "work", "torn.jsonl"), `${damaged}`, { flag: "a" });
  },
  open: (api, root) => ({
    run: async ({ n }) => {
      await api.applyPlan({ changes: changesOf(join(root, "work"), n) }, { journal: join(root, "run", "journal") });
    },
  }),
  look: (_api, root) => spell(readFiles(join(root, "work"))),
  check,
};

const damaged = '{"n"';
const large = "0123456789abcdef".repeat(17_000);

function isSingle(n: number): boolean {
  return n % 4 === 1;
}

/** The single change is an append. */
function isAppend(n: number): boolean {
  return n % 8 === 1;
}

function place(path: string, text: string): void {
  if (text === "/") mkdirSync(path);
  else if (text.startsWith("-> ")) symlinkSync(text.slice(3), path);
  else writeFileSync(path, text);
}

function changesOf(root: string, n: number): readonly Change[] {
  const line: Change = { kind: "append", root, path: "torn.jsonl", bytes: `{"n":${n}}\n` };
  const kept: Change = { kind: "write", root, path: "kept.txt", bytes: `kept ${n}\n` };
  if (isSingle(n)) return isAppend(n) ? [line] : [kept];
  return [
    kept,
    line,
    { kind: "rename", root, from: "ledger.jsonl", path: `archive/ledger-${n}.jsonl` },
    { kind: "append", root, path: "ledger.jsonl", bytes: `{"n":${n}}\n` },
    { kind: "write", root, path: `made-${n}/deep/new.txt`, bytes: `made ${n}\n` },
    { kind: "remove", root, path: "gone.txt" },
    { kind: "write", root, path: `later/gone-${n}.txt`, bytes: "" },
    { kind: "symlink", root, path: "link", target: `made-${n}` },
    { kind: "mkdir", root, path: `empty-${n}`, mode: 0o700 },
    { kind: "chmod", root, path: "script", mode: n % 2 === 0 ? 0o755 : 0o644 },
    { kind: "write", root, path: "large.txt", bytes: `${n}${n % 8 === 2 ? large : ""}` },
  ];
}

/** What lies in the root after so many plans. */
function filesAfter(count: number): Files {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const whole = numbers.filter((n) => !isSingle(n));
  const last = whole.at(-1) ?? 0;
  const kept = numbers.filter((n) => !isSingle(n) || !isAppend(n)).at(-1) ?? 0;
  const lines = numbers.filter((n) => !isSingle(n) || isAppend(n)).map((n) => `{"n":${n}}\n`);
  const files = new Map([
    ["kept.txt", `kept ${kept}\n`],
    ["torn.jsonl", `{"n":0}\n${lines.join("")}`],
    ["ledger.jsonl", `{"n":${last}}\n`],
    ["link", `-> made-${last}`],
    ["script", last !== 0 && last % 2 === 0 ? "x" : "-"],
    ["large.txt", `${last}${last % 8 === 2 ? large : ""}`],
  ]);
  if (last === 0) files.set("gone.txt", "going");
  else files.set("archive", "/").set("later", "/");
  for (const [at, n] of whole.entries()) {
    files.set(`archive/ledger-${n}.jsonl`, `{"n":${whole[at - 1] ?? 0}}\n`);
    files.set(`made-${n}`, "/").set(`made-${n}/deep`, "/").set(`made-${n}/deep/new.txt`, `made ${n}\n`);
    files.set(`later/gone-${n}.txt`, "").set(`empty-${n}`, "/");
  }
  return files;
}

const known = new Map<number, string>();

function spelledAfter(count: number): string {
  const spelled = known.get(count) ?? spell(filesAfter(count));
  known.set(count, spelled);
  return spelled;
}

function spell(files: Files): string {
  return [...files]
    .map(([path, text]) => `${path}: ${text.length > 100 ? text.length : text}`)
    .sort()
    .join("\n");
}

/** The `script` stands for its mode; folders that hold nothing count only where a plan is to make them so. */
function readFiles(root: string): Files {
  const tree = readTree(root);
  const files = new Map<string, string>();
  for (const [path, { kind, target, bytes }] of tree) {
    // A temporary file of a writer that is gone is looked at in the end.
    if (path.endsWith(".tmp")) continue;
    if (kind === "folder" && !path.startsWith("empty-")) {
      if (![...tree.keys()].some((other) => other.startsWith(`${path}/`))) continue;
    }
    files.set(path, kind === "folder" ? "/" : kind === "link" ? `-> ${target}` : bytes.toString("utf8"));
  }
  files.set("torn.jsonl", linesOf(files.get("torn.jsonl") ?? ""));
  files.set("script", (lstatSync(join(root, "script")).mode & 0o777) === 0o755 ? "x" : "-");
  return files;
}

/** What can be read of it: an append that was the only change of its plan may be torn, and costs itself. */
function linesOf(text: string): string {
  const lines = text.split("\n").filter((line) => /^\{"n":\d+\}$/.test(line));
  return lines.map((line) => `${line}\n`).join("");
}

async function check(api: Api, root: string, moment: Moment<PlanStep>): Promise<readonly string[]> {
  const [work, journal] = [join(root, "work"), join(root, "run", "journal")];
  const count = moment.acknowledged.length;
  const report = await api.recoverPlan({ journal });
  const findings = (report?.left ?? []).map(({ path, reason }) => `left ${path}: ${reason}`);
  const found = spell(readFiles(work));
  const isNext = moment.underWay !== undefined && found === spelledAfter(count + 1);
  if (!isNext) findings.push(...differing(`after ${count} plans the folder`, found, spelledAfter(count)));
  if (findings.length > 0) return findings;
  const next = count + (isNext ? 2 : 1);
  for (const n of moment.isThorough ? [next, next + 1] : [next]) {
    await api.applyPlan({ changes: changesOf(work, n) }, { journal });
    findings.push(...differing(`after the next plan the folder`, spell(readFiles(work)), spelledAfter(n)));
  }
  const strange = [...readTree(root).keys()].filter((path) => /\.tmp$|journal|staged/.test(path));
  return strange.length === 0 ? findings : [...findings, `left behind: ${strange.join(", ")}`];
}
