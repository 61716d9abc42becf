import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { decodeDocument } from "../../documents/decode.ts";
import { openDocumentReader } from "../../documents/reader.ts";
import type { Finding, Level } from "../../findings/finding.ts";
import type { GitReading } from "../../git/reading.ts";
import type { Layer } from "../../layer/layer.ts";
import type { Policy, Profile } from "../../policy/policy.ts";
import { parseLedger } from "../../records/ledger.ts";
import { renderNote } from "../../records/note.ts";
import { parseQuestions, renderQuestion } from "../../records/questions.ts";
import type { System, WatchedResult } from "../../system/port.ts";
import type { TaskSubject, TouchedFile } from "../../work/subject.ts";
import type { Task } from "../../work/task.ts";
import type { DoctrineInput, FinishRequest, Verification } from "../doctrine.ts";
import type { Rule } from "../rule.ts";
import { doctrines } from "./registry.ts";

const share = path.resolve(import.meta.dirname, "../../../../../share");

function shipped(name: string): string {
  return fs.readFileSync(path.join(share, name), "utf8");
}

function decoded<T extends "policy" | "profile">(kind: T, text: string): T extends "policy" ? Policy : Profile {
  const answer = decodeDocument(kind, text);
  if (!answer.ok) throw new Error("the shipped document does not decode");
  return answer.value as T extends "policy" ? Policy : Profile;
}

const policyText = shipped("skeleton/ai/repo/policy.yaml");
const policy = decoded("policy", policyText);
const profile = decoded("profile", shipped("skeleton/ai/repo/profiles/implementation.yaml"));
const now = new Date("2026-09-03T20:00:00Z");
const commit = "b".repeat(40);

const task: Task = {
  id: "t-20260903193012-a4f1",
  task: "fix the callback",
  profile: "implementation",
  owner: "ada",
  scope: ["src/auth"],
  started_at: "2026-09-03T19:50:00Z",
  outcome: "active",
};

const subject: TaskSubject = {
  task,
  profile,
  touched: [{ path: "src/auth/a.ts", commit: undefined }],
  standing: {
    label: "exact",
    moved: false,
    recorded: { branch: "main", head: commit },
    current: { branch: "main", head: commit },
  },
};

const note = renderNote(
  {
    schema_version: 1,
    created_at: "2026-09-03T19:55:00Z",
    task_id: task.id,
    profile: "implementation",
    owner: "ada",
    repository_id: "/repo/.git",
    worktree: "/repo",
    branch: "main",
    head: commit,
    working_tree: "clean",
    changed_files: [],
    changed_files_excluded: 0,
  },
  "# Objective\n\na\n",
);

const state = ".ai/local/state/";
const decision = `## 2026-09-03 — Compare exactly\n\nTask: ${task.id}\nHead: b71e0c9\nWhy: forged states\n`;
const files: Readonly<Record<string, string>> = {
  ".ai/manifest.yaml": shipped("skeleton/ai/manifest.yaml"),
  ".ai/repo/policy.yaml": policyText,
  ".ai/repo/scope.yaml": "",
  ".ai/repo/profiles/implementation.yaml": shipped("skeleton/ai/repo/profiles/implementation.yaml"),
  ".ai/repo/rules": "",
  ".ai/repo/knowledge": "",
  ".ai/repo/prompts": "",
  ".ai/repo/skills": "",
  ".ai/repo/workflows": "",
  ".ai/repo/adrs": "",
  ".gitignore": "/.ai/local\n",
  ".ci/run": "npm ci\nreeve doctor\n",
  [`${state}decisions.md`]: decision,
  [`${state}handovers/a.md`]: note,
  [`${state}checkpoints/a.md`]: note,
};

interface Changes {
  readonly files?: Readonly<Record<string, string | undefined>>;
  readonly policy?: Policy | undefined;
  readonly ledger?: string;
  readonly questions?: string;
  readonly subject?: Partial<TaskSubject>;
  readonly task?: Partial<Task>;
  readonly profile?: Profile["verification"];
  readonly finish?: Partial<FinishRequest>;
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: Partial<Layer["home"]>;
  readonly pending?: readonly string[];
  readonly untracked?: readonly string[];
  /** Paths in git's index. */
  readonly index?: readonly string[];
}

const event = '{"event":"question.opened","question":"q","ts":"2026-09-03T19:30:12Z"}\n';

function indexOf(paths: readonly string[]): Buffer {
  const head = Buffer.from("DIRC\0\0\0\u0002\0\0\0\0", "latin1");
  return Buffer.concat([head, Buffer.from(paths.join("\0"))]);
}

function layerOf(changes: Changes): Layer {
  const held = { ...files, ...changes.files };
  const below = (folder: string): string[] =>
    Object.keys(held).flatMap((name) =>
      held[name] !== undefined && name.startsWith(folder) ? [name.slice(folder.length).split("/")[0] ?? ""] : [],
    );
  const local = (where: string): string => where.slice("/repo/".length);
  const exists = (name: string): boolean => held[name] !== undefined || below(`${name}/`).length > 0;
  const system = {
    now: () => now,
    env: changes.env ?? {},
    info: (where: string) => (exists(local(where)) ? { kind: "file" } : undefined),
    readText: (where: string) => held[local(where)],
    readBytes: () => indexOf(changes.index ?? [".ai/manifest.yaml"]),
    list: () => [],
  } as unknown as System;
  return {
    system,
    repository: { top: "/repo", gitDir: "/repo/.git", commonDir: "/repo/.git" },
    home: {
      mode: "git",
      path: "/repo/.ai/local",
      exists: true,
      linked: true,
      misplaced: undefined,
      foreign: false,
      ...changes.home,
    },
    pending: changes.pending ?? [],
    documents: openDocumentReader({ system, cache: undefined, keep: false, version: "1" }),
    read: (name: string) => held[name],
    list: (folder: string) => [...new Set(below(folder.endsWith("/") ? folder : `${folder}/`))].sort(),
  } as unknown as Layer;
}

function inputOf(changes: Changes): DoctrineInput {
  const status = { entries: (changes.untracked ?? []).map((name) => ({ kind: "untracked", path: name })) };
  const verification = changes.profile === undefined ? {} : { profile: { ...profile, verification: changes.profile } };
  return {
    layer: layerOf(changes),
    git: { status: () => status } as unknown as GitReading,
    runBy: "finish",
    policy: "policy" in changes ? changes.policy : policy,
    ledger: parseLedger(Buffer.from(changes.ledger ?? event)),
    questions: parseQuestions(changes.questions ?? ""),
    set: { rules: policy.verification?.finish_requires?.map(ruleOf) ?? [], problems: [] },
    subject: { ...subject, ...verification, ...changes.subject, task: { ...task, ...changes.task } },
    finish: { outcome: "completed", verification: ran({}), note: { body: "", from: "a note" }, ...changes.finish },
  };
}

function ruleOf(policyKey: string): Rule {
  const words = { title: "a", description: "b", statement: "c", path: "a.md" };
  const base = { version: 1, kind: "rule", status: "active", class: "blocking", depends_on: [] } as const;
  return { id: `reeve.${policyKey}`, ...base, ...words, "x-reeve": { policy_key: policyKey } };
}

function ran(result: Partial<WatchedResult>, treeAfter: string = commit): Verification {
  const whole: WatchedResult = { exit: 0, milliseconds: 3000, ended: "exited", tail: "", ...result };
  return { command: "npm test", result: whole, treeBefore: commit, treeAfter };
}

function touching(...paths: readonly (string | TouchedFile)[]): Changes {
  const touched = paths.map((one) => (typeof one === "string" ? { path: one, commit: undefined } : one));
  return { subject: { touched } };
}

function standing(changes: Partial<TaskSubject["standing"]>): Changes {
  return { subject: { standing: { ...subject.standing, ...changes } } };
}

function noteOf(body: string, outcome: FinishRequest["outcome"] = "completed"): Changes {
  return { finish: { outcome, note: { body, from: "--note" } } };
}

function policyWith(block: string, members: Readonly<Record<string, unknown>>): Changes {
  return { policy: { ...policy, [block]: { ...(policy[block] as object), ...members } } };
}

const whole = "# Objective\na\n# Current State\nb\n# Next Action\nc\n";

/** Per doctrine: what is the case, what differs from a sound repository, and the levels of what is found. */
const cases: Readonly<Record<string, readonly (readonly [string, Changes, readonly Level[]])[]>> = {
  "ai-layout-integrity": [
    ["a sound layer", {}, ["OK", "OK"]],
    ["no home yet", { home: { exists: false } }, ["OK", "OK"]],
    ["a section that is absent", { files: { ".ai/repo/skills": undefined } }, ["FAIL", "OK"]],
    [
      "a manifest that does not decode",
      { files: { ".ai/manifest.yaml": "schema: ai/v2\n" } },
      ["FAIL", "FAIL", "FAIL", "FAIL", "OK"],
    ],
    ["a home somewhere else", { home: { misplaced: "a link to /x" } }, ["OK", "FAIL"]],
    ["a home git shows", { untracked: [".ai/local/state/ledger.jsonl"] }, ["OK", "FAIL"]],
    ["no ignore line before there is a home", { home: { linked: false }, files: { ".gitignore": "" } }, ["OK", "WARN"]],
    [
      "an ignore line with a slash, which does not match a link",
      { home: { linked: false }, files: { ".gitignore": "/.ai/local/\n" } },
      ["OK", "WARN"],
    ],
    ["a layer git ignores", { index: ["src/a.ts"] }, ["OK", "FAIL", "OK"]],
    ["a layer that is not yet added", { index: [], untracked: [".ai/manifest.yaml"] }, ["OK", "OK"]],
    ["a plan that does not parse", { files: { ".ai/local/run/journal.json": "{" } }, ["OK", "OK", "FAIL"]],
    ["changes of an interrupted command", { pending: ["a", "b"] }, ["OK", "OK", "INFO"]],
    ["a layout before this one", { files: { ".majordomus/policy.yaml": "" } }, ["OK", "OK", "FAIL"]],
  ],
  "policy-integrity": [
    ["sound documents", {}, ["OK", "OK"]],
    ["no policy", { files: { ".ai/repo/policy.yaml": undefined }, policy: undefined }, ["FAIL", "OK"]],
    [
      "two wrong lines",
      { files: { ".ai/repo/policy.yaml": "version: 2\nx: 1\n" }, policy: undefined },
      ["FAIL", "FAIL", "OK"],
    ],
    [
      "a profile that does not decode",
      { files: { ".ai/repo/profiles/implementation.yaml": "name: a\n" } },
      ["OK", "FAIL", "FAIL", "FAIL", "FAIL", "FAIL", "FAIL"],
    ],
    [
      "a profile named otherwise inside",
      { files: { ".ai/repo/profiles/other.yaml": files[".ai/repo/profiles/implementation.yaml"] } },
      ["OK", "OK", "OK", "FAIL"],
    ],
    ["a default profile without a file", policyWith("profiles", { default: "nobody" }), ["OK", "OK", "FAIL"]],
    [
      "a key of finish that no rule defines",
      policyWith("verification", { finish_requires: ["note_present", "note_presnt"] }),
      ["OK", "OK", "FAIL"],
    ],
  ],
  "policy-completeness": [
    ["the shipped policy", {}, ["OK"]],
    [
      "one value missing",
      { policy: { ...policy, handover: { required_sections: [], retention_max_files: 1 } } },
      ["FAIL"],
    ],
    ["a policy that does not parse", { policy: undefined }, []],
  ],
  "enforcement-wiring": [
    ["nothing to enforce", { policy: { version: 1 } }, []],
    [
      "CI that runs it",
      { policy: { version: 1, enforcement: [{ name: "a", path: "reeve", args: ["doctor"], wired_by: "ci:.ci/run" }] } },
      ["OK"],
    ],
    [
      "CI that does not run it",
      {
        policy: {
          version: 1,
          enforcement: [{ name: "a", path: "reeve", args: ["finish", "--check"], wired_by: "ci:.ci/run" }],
        },
      },
      ["FAIL"],
    ],
    [
      "CI whose file is missing",
      { policy: { version: 1, enforcement: [{ name: "a", path: "reeve", wired_by: "ci:.ci/none" }] } },
      ["FAIL"],
    ],
    [
      "what nobody can verify",
      { policy: { version: 1, enforcement: [{ name: "a", path: "reeve", wired_by: "manual" }] } },
      ["INFO"],
    ],
  ],
  "ledger-integrity": [
    ["sound lines", {}, ["OK"]],
    ["an empty ledger", { ledger: "" }, ["OK"]],
    ["two damaged lines", { ledger: `{\n${event}[]\n` }, ["FAIL", "FAIL"]],
  ],
  "decision-records": [
    ["whole records", {}, ["OK"]],
    ["no records", { files: { [`${state}decisions.md`]: undefined } }, ["OK"]],
    [
      "a record without a reason",
      { files: { [`${state}decisions.md`]: decision.replace(/Why.*/, "Why: -") } },
      ["WARN"],
    ],
    ["a record without a commit", { files: { [`${state}decisions.md`]: decision.replace(/Head.*\n/, "") } }, ["WARN"]],
  ],
  "questions-store-integrity": [
    ["no questions", {}, ["OK"]],
    ["a sound one", { questions: renderQuestion(undefined, "why", "2026-09-03") }, ["OK"]],
    ["a line that is none", { questions: "- [ ] todo\n" }, ["FAIL"]],
  ],
  "handover-integrity": [
    ["sound records", {}, ["OK", "OK"]],
    ["a broken handover", { files: { [`${state}handovers/b.md`]: "no front matter" } }, ["FAIL", "OK"]],
    ["a broken checkpoint", { files: { [`${state}checkpoints/b.md`]: "---\n: [\n---\n" } }, ["OK", "FAIL"]],
  ],
  "retention-caps": [
    ["everything within", {}, ["OK", "OK", "OK"]],
    ["exactly at the cap", policyWith("ledger", { retention_max_lines: 1, rotate: "off" }), ["OK", "OK", "OK"]],
    [
      "a ledger that will be rotated",
      { ...policyWith("ledger", { retention_max_lines: 1 }), ledger: event + event },
      ["INFO", "OK", "OK"],
    ],
    [
      "a ledger nobody rotates",
      { ...policyWith("ledger", { retention_max_lines: 1, rotate: "off" }), ledger: `${event}{\n` },
      ["FAIL", "OK", "OK"],
    ],
    [
      "too many handovers",
      { ...policyWith("handover", { retention_max_files: 1 }), files: { [`${state}handovers/b.md`]: note } },
      ["OK", "FAIL", "OK"],
    ],
    [
      "too many checkpoints",
      { ...policyWith("checkpoint", { retention_max_files: 1 }), files: { [`${state}checkpoints/b.md`]: note } },
      ["OK", "OK", "FAIL"],
    ],
    ["a policy that does not parse", { policy: undefined }, []],
  ],
  "scope-integrity": [
    ["files within", {}, ["OK"]],
    ["no file at all", touching(), ["OK"]],
    ["managed files", touching(".gitignore", ".ai/local/state/current.yaml"), ["OK"]],
    ["a file outside", touching("src/auth/a.ts", "docs/b.md"), ["FAIL"]],
    ["a file outside in a commit", touching({ path: "docs/b.md", commit }), ["FAIL"]],
    ["a neighbour with the same beginning", touching("src/auth2/a.ts"), ["FAIL"]],
    ["a name with control characters", touching("docs/a\nFAIL b\u001b[2J"), ["FAIL"]],
    ["a name that shows itself as another", touching("docs/\u202eb\u009b2J\u007f"), ["FAIL"]],
    ["several files outside", touching("docs/a", "src/auth/b", "docs/c"), ["FAIL", "FAIL"]],
  ],
  "verification-integrity": [
    ["a command that passed", {}, ["OK"]],
    ["a command that failed", { finish: { verification: ran({ exit: 1 }) } }, ["FAIL"]],
    ["a command nobody has", { finish: { verification: ran({ exit: 127 }) } }, ["FAIL"]],
    ["a command over its time", { finish: { verification: ran({ exit: 0, ended: "timed-out" }) } }, ["FAIL"]],
    ["a command that was interrupted", { finish: { verification: ran({ exit: 0, ended: "interrupted" }) } }, ["FAIL"]],
    ["a tree that changed meanwhile", { finish: { verification: ran({}, "c".repeat(40)) } }, ["FAIL"]],
    ["no command where one is asked for", { finish: { verification: undefined } }, ["FAIL"]],
    ["no command under a profile that is silent", { finish: { verification: undefined }, profile: {} }, ["FAIL"]],
    [
      "no command and no file, asked for with files",
      { ...touching(), finish: { verification: undefined }, profile: { verify_command_required: "if_files_changed" } },
      ["OK"],
    ],
    [
      "no command and a file, asked for with files",
      { finish: { verification: undefined }, profile: { verify_command_required: "if_files_changed" } },
      ["FAIL"],
    ],
    [
      "no command where the policy asks for one, with files",
      { finish: { verification: undefined }, profile: { verify_command_required: false } },
      ["FAIL"],
    ],
    [
      "no command where none is asked for",
      {
        ...policyWith("verification", { required_for_changes: false }),
        finish: { verification: undefined },
        profile: { verify_command_required: false },
      },
      ["OK"],
    ],
    [
      "a failed command where none is asked for",
      { finish: { verification: ran({ exit: 2 }) }, profile: { verify_command_required: false } },
      ["FAIL"],
    ],
  ],
  "state-consistency": [
    ["the same commit", {}, ["OK"]],
    ["commits since", standing({ label: "advanced" }), ["OK"]],
    ["a branch that moved along", standing({ label: "advanced", moved: true }), ["OK", "INFO"]],
    ["another history", standing({ label: "diverged" }), ["FAIL"]],
    ["another branch", standing({ label: "different_context" }), ["FAIL"]],
    ["a commit git does not have", standing({ label: "unknown" }), ["FAIL"]],
    ["no commit at all", standing({ label: "unknown", recorded: { branch: undefined, head: undefined } }), ["FAIL"]],
  ],
  "blocker-resolution": [
    ["no question", {}, ["OK"]],
    [
      "another task's question",
      { questions: renderQuestion("t-20260101000000-ffff", "q", "2026-09-03") },
      ["INFO", "OK"],
    ],
    ["this task's question", { questions: renderQuestion(task.id, "q", "2026-09-03") }, ["FAIL"]],
    ["nobody's question", { questions: renderQuestion(undefined, "q", "2026-09-03") }, ["FAIL"]],
    ["an answered question", { questions: `- [resolved 2026-09-04] ${task.id} — q (2026-09-03) — a\n` }, ["OK"]],
    ["a line that may be a question", { questions: "- [ ] q\n" }, ["FAIL"]],
  ],
  "checkpoint-freshness": [
    ["a task that just began", {}, ["OK"]],
    ["a task without a checkpoint for too long", { task: { started_at: "2026-09-03T19:44:59Z" } }, ["WARN"]],
    [
      "a fresh checkpoint",
      { task: { started_at: "2026-09-01T00:00:00Z", checkpoint_at: "2026-09-03T19:45:00Z" } },
      ["OK"],
    ],
    ["an old checkpoint", { task: { checkpoint_at: "2026-09-03T19:44:59Z" } }, ["WARN"]],
  ],
  "note-integrity": [
    ["every section", noteOf(whole), ["OK"]],
    ["a section missing", noteOf("# Objective\na\n# Current State\nb\n"), ["FAIL"]],
    ["a section that is a placeholder", noteOf(whole.replace("c", "<what is next>")), ["FAIL"]],
    ["no note", { finish: { note: undefined } }, ["FAIL"]],
    ["partial with the next action alone", noteOf("# Next Action\nc\n", "partial"), ["OK"]],
    ["partial without it", noteOf("# Objective\na\n", "partial"), ["FAIL"]],
    ["blocked without it", noteOf("# Reason\na\n", "blocked"), ["FAIL"]],
    ["failed with a reason", noteOf("# Reason\na\n", "failed"), ["OK"]],
    ["failed without one", noteOf(whole, "failed"), ["FAIL"]],
    ["no match without a reason", noteOf(whole, "no_match"), ["FAIL"]],
  ],
  "profile-requirements": [
    ["a profile that asks for nothing", {}, []],
    [
      "a test among the files",
      { ...touching("src/auth/a.test.ts"), profile: { regression_test_required: true } },
      ["OK"],
    ],
    [
      "no test among the files",
      { ...touching("src/latest.ts", "contest/a.ts"), profile: { regression_test_required: true } },
      ["FAIL"],
    ],
    ["a decision of this task", { profile: { decision_record_required: true } }, ["OK"]],
    [
      "no decision of this task",
      { task: { id: "t-20260101000000-ffff" }, profile: { decision_record_required: true } },
      ["FAIL"],
    ],
    [
      "both, and neither is there",
      {
        ...touching(),
        task: { id: "t-20260101000000-ffff" },
        profile: { decision_record_required: true, regression_test_required: true },
      },
      ["FAIL", "FAIL"],
    ],
  ],
};

async function find(id: string, changes: Changes): Promise<readonly Finding[]> {
  const doctrine = doctrines.find((one) => one.id === id);
  if (doctrine === undefined) throw new Error(`there is no doctrine ${id}`);
  return doctrine.validate(inputOf(changes));
}

describe("doctrines", () => {
  test("doctrines are one a file of their folder, each with a rule text that names it", () => {
    const ids = doctrines.map((doctrine) => doctrine.id).sort();
    const sources = fs.readdirSync(import.meta.dirname).filter((name) => !/^registry\.|\.test\.ts$/.test(name));
    expect(ids).toEqual(sources.map((name) => name.replace(/\.ts$/, "")).sort());
    for (const id of ids) expect(shipped(`rules/${id}.v1.md`), id).toContain(`validator: ${id}`);
  });

  test("doctrines each have a case here that passes and one that does not", () => {
    expect(Object.keys(cases).sort()).toEqual(doctrines.map((doctrine) => doctrine.id).sort());
    for (const [id, all] of Object.entries(cases)) {
      const bad = (levels: readonly Level[]): boolean => levels.some((level) => level === "FAIL" || level === "WARN");
      expect([id, all.some(([, , levels]) => bad(levels)), all.some(([, , levels]) => !bad(levels))]).toEqual([
        id,
        true,
        true,
      ]);
    }
  });

  test.each(
    Object.entries(cases).flatMap(([id, all]) =>
      all.map(([what, changes, levels]) => [id, what, changes, levels] as const),
    ),
  )("%s judges %s", async (id, _what, changes, levels) => {
    const found = await find(id, changes);
    const category = doctrines.find((one) => one.id === id)?.category;
    expect(found.map((finding) => finding.level)).toEqual(levels);
    for (const finding of found) {
      expect(finding.category).toBe(category);
      expect(`${finding.subject} ${finding.message}`).not.toMatch(/[\p{Cc}\p{Cf}]|undefined|NaN|\[object/u);
      expect(`${finding.reproduce} ${finding.next}`).not.toMatch(/--force|reset --hard|\breset\b/);
      if (finding.level !== "OK" && finding.level !== "INFO") expect(finding.reproduce).toMatch(/^\S/);
    }
  });
});

describe("scopeIntegrity", () => {
  test("scope-integrity names the commit, and quotes the file for the shell", async () => {
    const [finding] = await find("scope-integrity", touching({ path: "docs/it's $(x).md", commit }));
    expect(finding).toMatchObject({ subject: "docs/it's $(x).md", message: /in commit bbbbbbb/ });
    expect(finding?.reproduce).toContain(`':(top,literal)docs/it'\\''s $(x).md'`);
  });
});

describe("blockerResolution", () => {
  test("blocker-resolution says what to type for a question with quotes in it", async () => {
    const question = `is "a" $HOME`;
    const [finding] = await find("blocker-resolution", { questions: renderQuestion(task.id, question, "2026-09-03") });
    expect(finding?.subject).toBe(question);
    expect(finding?.next).toContain("reeve question resolve");
  });
});

describe("requireSubject", () => {
  test.each([
    "scope-integrity",
    "state-consistency",
    "blocker-resolution",
    "checkpoint-freshness",
    "profile-requirements",
  ])("requireSubject keeps %s from passing without a task", async (id) => {
    const doctrine = doctrines.find((one) => one.id === id);
    const input = { ...inputOf({}), subject: undefined };
    await expect(async () => doctrine?.validate(input)).rejects.toThrow(/without one/);
  });
});
