import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { ReeveError } from "@reeve/core/findings/errors.ts";
import { type Checkout, makeScene, type Scene } from "@reeve/core/git/fixture.ts";
import { writeChange } from "@reeve/core/layer/layer.ts";
import { table } from "@reeve/core/state/table.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import type { System } from "@reeve/core/system/port.ts";
import { isDerivedSpelling, readLock, withLock } from "@reeve/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { writeJournal } from "../../store/src/journal.ts";
import { performStep } from "../../store/src/perform.ts";
import { readSteps } from "../../store/src/prepare.ts";
import { type Command, type Definition, defineCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { type Answer, type Call, execute } from "./execute.ts";
import { registry } from "./registry.ts";

let scene: Scene;
let main: Checkout;

beforeEach(() => {
  scene = makeScene();
  main = scene.make("main tree");
});
afterEach(() => scene.remove());

let built: string;
let shareFolder: AbsPath;

interface RulesManifest {
  readonly rules: readonly { readonly file: string }[];
}

/** The shipped data as an installation has it: the rules' manifest completed. */
beforeAll(() => {
  built = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve share ")));
  shareFolder = path.join(built, "share") as AbsPath;
  fs.cpSync(path.resolve(import.meta.dirname, "../../../share"), shareFolder, { recursive: true });
  const file = path.join(shareFolder, "rules/manifest.yaml");
  const manifest = parse(fs.readFileSync(file, "utf8")) as RulesManifest;
  const hash = (name: string): string => {
    const bytes = fs.readFileSync(path.join(shareFolder, "rules", name));
    return createHash("sha256").update(bytes).digest("hex");
  };
  const rules = manifest.rules.map((rule) => ({ ...rule, sha256: hash(rule.file) }));
  fs.writeFileSync(file, stringify({ ...manifest, source_revision: "1.0.0", rules }));
});
afterAll(() => fs.rmSync(built, { recursive: true, force: true }));

type Fake = Partial<Definition<Record<never, never>, unknown, unknown>>;

function fake(changes: Fake = {}): Command {
  return defineCommand<Record<never, never>, unknown, unknown>({
    name: "fake",
    summary: "",
    examples: [],
    args: {},
    class: "read-only",
    needs: "layer",
    surfaces: ["cli"],
    output: "value",
    reads: [],
    writes: [],
    result: {},
    run: () => ({ result: "done" }),
    text: () => "",
    ...changes,
  });
}

interface Asked extends Partial<Call> {
  readonly on?: Checkout;
  readonly change?: (system: System) => System;
}

function call(command: Command, asked: Asked = {}): Promise<Answer> {
  const { on = main, change = (system) => system, ...more } = asked;
  const system = change({ ...on.system({ USER: "ada" }), now: scene.now });
  return execute({
    command,
    args: {},
    system,
    version: "1.0.0",
    shareFolder,
    program: "/opt/reeve",
    registry,
    start: on.top,
    dry: false,
    caches: true,
    prefetched: undefined,
    ...more,
  });
}

async function run(name: string, args: Readonly<Record<string, unknown>> = {}, asked: Asked = {}): Promise<Answer> {
  const command = await registry.find((entry) => entry.name === name)?.load();
  if (command === undefined) throw new Error(`there is no ${name}`);
  const none = { boolean: false, list: [], string: undefined, number: undefined } as const;
  const flags = Object.entries(command.args.flags ?? {}).map(([flag, { type }]) => [flag, none[type]]);
  return call(command, { args: { ...Object.fromEntries(flags), ...args }, ...asked });
}

async function refusal(promise: Promise<unknown>): Promise<ReeveError> {
  const error: unknown = await promise.then(
    () => new Error("nothing was refused"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ReeveError) return error;
  throw error;
}

/** Every file below a folder, links unfollowed, from the repository's root. */
function walk(top: string, below = ""): readonly string[] {
  return fs.readdirSync(path.join(top, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? walk(top, name) : [name];
  });
}

function everything(): Readonly<Record<string, string>> {
  const files = walk(main.top).filter((name) => !/^\.git\/(?:objects|index|logs)/.test(name));
  return Object.fromEntries(
    files.map((name) => {
      const where = path.join(main.top, name);
      return [name, fs.lstatSync(where).isSymbolicLink() ? fs.readlinkSync(where) : fs.readFileSync(where, "latin1")];
    }),
  );
}

function writing(text: string, more: Fake = {}): Command {
  return fake({
    class: "state-mutating",
    run: (_args, context) => ({
      result: text,
      plan: { changes: [writeChange(context.layer, ".ai/local/state/current.yaml", text)] },
    }),
    ...more,
  });
}

function current(): string | undefined {
  const file = path.join(main.top, ".ai/local/state/current.yaml");
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
}

describe("execute: what a command needs", () => {
  test.each<["nothing" | "repo" | "layer" | "task", readonly (keyof Context)[]]>([
    ["nothing", ["git", "layer", "task"]],
    ["repo", ["layer", "task"]],
    ["layer", ["task"]],
  ])("execute opens for a command that needs %s no %j", async (needs, closed) => {
    await run("init");
    for (const member of closed) {
      const command = fake({ needs, run: (_args, context) => ({ result: context[member] }) });
      expect(await refusal(call(command))).toMatchObject({ code: "INTERNAL", exit: 13 });
    }
  });

  test("execute refuses a command outside a repository, without a layer and without a task, each by its own name", async () => {
    const outside = scene.at(".");
    expect((await call(fake({ needs: "nothing" }), { on: outside })).outcome.result).toBe("done");
    expect((await refusal(call(fake({ needs: "repo" }), { on: outside }))).code).toBe("NOT_A_REPOSITORY");
    expect((await call(fake({ needs: "repo" }))).outcome.result).toBe("done");
    expect((await refusal(call(fake({ needs: "layer" })))).code).toBe("NO_LAYER");
    await run("init");
    expect((await call(fake({ needs: "layer" }))).outcome.result).toBe("done");
    expect((await refusal(call(fake({ needs: "task" })))).code).toBe("NO_TASK");
    await run("start", { task: "a", scope: ["."] });
    const command = fake({ needs: "task", run: (_args, context) => ({ result: context.task.task }) });
    expect((await call(command)).outcome.result).toBe("a");
  });

  test("execute starts no git for a command that needs none", async () => {
    await run("init");
    expect((await call(fake({ needs: "nothing" }))).gitProcesses).toBe(0);
    expect((await call(fake({ needs: "layer" }))).gitProcesses).toBe(0);
    const status = fake({ run: (_args, context) => ({ result: [context.git.status(), context.git.status()].length }) });
    expect((await call(status)).gitProcesses).toBe(1);
  });

  test("execute hands what prepare made to run, and reads the input at most once", async () => {
    let reads = 0;
    const change = (system: System): System => ({
      ...system,
      readInput: () => {
        reads += 1;
        return "in";
      },
    });
    const command = fake({
      needs: "nothing",
      prepare: async (_args, context) => `${context.input}+${context.input}`,
      run: (_args, context, prepared) => ({ result: `${prepared} ${context.input}` }),
    });
    expect((await call(command, { change })).outcome.result).toBe("in+in in");
    expect(reads).toBe(1);
  });
});

describe("execute: reading", () => {
  test("execute writes nothing for a reading command, whatever plan it gives", async () => {
    await run("init");
    const before = everything();
    await call(writing("mine", { class: "read-only" }));
    expect(everything()).toEqual(before);
  });

  test("execute makes no home for a reading command", async () => {
    await run("init");
    fs.rmSync(path.join(main.top, ".git/reeve"), { recursive: true });
    fs.rmSync(path.join(main.top, ".ai/local"));
    const before = everything();
    await run("doctor");
    await run("status");
    await refusal(run("check"));
    expect(everything()).toEqual(before);
  });

  test("execute takes a flag that makes a reading command write, and the other way round", async () => {
    await run("init");
    const reading = writing("one", { class: "read-only", writesWith: ["record"] });
    await call(reading, { args: { record: false } });
    expect(current()).toBeUndefined();
    await call(reading, { args: { record: true } });
    expect(current()).toBe("one");
    const changing = writing("two", { readsWith: ["check"] });
    await call(changing, { args: { check: true } });
    expect(current()).toBe("one");
    await call(changing, { args: { check: false } });
    expect(current()).toBe("two");
  });

  test("execute gives the same answer without caches, after one was kept, and after it was damaged", async () => {
    await run("init");
    const judge = async (caches: boolean): Promise<unknown> => (await run("doctor", {}, { caches })).outcome.findings;
    const first = await judge(true);
    const folder = path.join(main.top, ".ai/local/cache");
    expect(fs.readdirSync(folder)).toContain("parsed.json");
    const kept = await judge(true);
    for (const name of fs.readdirSync(folder)) fs.writeFileSync(path.join(folder, name), "{damaged");
    expect([kept, await judge(true), await judge(false)]).toEqual([first, first, first]);
  });

  test("execute keeps no cache in a call that has caches off, and none in a dry run", async () => {
    await run("init");
    await run("doctor", {}, { caches: false });
    await run("start", { task: "a", scope: ["."] }, { dry: true });
    expect(fs.readdirSync(path.join(main.top, ".ai/local/cache"))).toEqual([]);
  });
});

describe("execute: writing", () => {
  test("execute tells in a dry run what would be written, and writes nothing", async () => {
    await run("init");
    const before = everything();
    const { planned, plan } = await call(writing("text"), { dry: true });
    expect(planned).toMatchObject([{ kind: "write", path: "state/current.yaml", bytes: 4 }]);
    expect(plan?.changes.length).toBe(1);
    expect(everything()).toEqual(before);
  });

  test("execute writes nothing in a dry run of init, not even a home", async () => {
    const before = everything();
    const { planned } = await run("init", { hooks: true }, { dry: true });
    expect((planned ?? []).length).toBeGreaterThan(10);
    expect(everything()).toEqual(before);
  });

  test("execute plans in a dry run what it then writes", async () => {
    await run("init");
    const dry = await run("start", { task: "a", scope: ["."] }, { dry: true });
    const wet = await run("start", { task: "a", scope: ["."] });
    const names = (answer: Answer): unknown => answer.plan?.changes.map((change) => [change.kind, change.path]);
    expect(names(dry)).toEqual(names(wet));
  });

  test("execute makes the home at the first command that writes, as init does", async () => {
    await run("init");
    fs.rmSync(path.join(main.top, ".git/reeve"), { recursive: true });
    fs.rmSync(path.join(main.top, ".ai/local"));
    await call(writing("text"));
    expect(current()).toBe("text");
    expect(fs.readlinkSync(path.join(main.top, ".ai/local"))).toBe("../.git/reeve/checkouts/main");
    expect(fs.existsSync(path.join(main.top, ".ai/local/state/decisions.md"))).toBe(true);
  });

  test("execute leaves everything as it was where a command stops", async () => {
    await run("init");
    const before = everything();
    const stopping = writing("text", {
      run: () => {
        throw new ReeveError("REFUSED", "no");
      },
    });
    expect((await refusal(call(stopping))).code).toBe("REFUSED");
    expect(Object.keys(everything())).toEqual(Object.keys(before));
    await call(writing("after"));
    expect(current()).toBe("after");
  });

  test("execute prepares without the lock, and runs with it, on what is there then", async () => {
    await run("init");
    await call(writing("before"));
    const lock = path.join(main.top, ".git/reeve/checkouts/main/run/layer.lock");
    const seen: unknown[] = [];
    const look = (context: Context): void => {
      seen.push([context.layer.read(".ai/local/state/current.yaml"), readLock(lock) !== undefined]);
    };
    const command = writing("x", {
      prepare: async (_args, context) => {
        look(context);
        await call(writing("meanwhile"));
      },
      run: (_args, context) => {
        look(context);
        return { result: undefined };
      },
    });
    await call(command);
    expect(seen).toEqual([
      ["before", false],
      ["meanwhile", true],
    ]);
  });

  test("execute finishes first what an interrupted command left, and readers see it meanwhile", async () => {
    await run("init");
    const home = path.join(main.top, ".git/reeve/checkouts/main");
    const journal = path.join(home, "run/journal.json");
    const changes = ["one", "two"].map(
      (name) => ({ kind: "write", root: home, path: `state/${name}`, bytes: name }) as const,
    );
    const [first] = writeJournal(journal, readSteps({ changes }).steps);
    if (first !== undefined) performStep(first, new Set());
    const read = fake({
      run: (_args, context) => ({ result: [context.layer.pending.length, context.layer.read(".ai/local/state/two")] }),
    });
    expect((await call(read)).outcome.result).toEqual([2, "two"]);
    expect(fs.existsSync(path.join(home, "state/two"))).toBe(false);
    await call(writing("text"));
    expect((await call(read)).outcome.result).toEqual([0, "two"]);
    expect(fs.readFileSync(path.join(home, "state/two"), "utf8")).toBe("two");
  });

  test("execute writes one after another for several commands at once", async () => {
    await run("init");
    const add = (text: string): Promise<Answer> => run("decision add", { what: text, why: "because" });
    await Promise.all(Array.from({ length: 5 }, (_, n) => add(`decision ${n}`)));
    const { outcome } = await run("decision list");
    expect((outcome.result as { decisions: readonly unknown[] }).decisions.length).toBe(5);
    const ledger = fs.readFileSync(path.join(main.top, ".ai/local/state/ledger.jsonl"), "utf8");
    expect(
      ledger
        .trim()
        .split("\n")
        .map((row) => (JSON.parse(row) as { event: string }).event),
    ).toEqual(Array.from({ length: 5 }, () => "decision.recorded"));
  });

  test("execute does not write while another holds the lock, and writes once it is free", async () => {
    await run("init");
    const lock = path.join(main.top, ".git/reeve/checkouts/main/run/layer.lock");
    let pending: Promise<Answer> | undefined;
    await withLock(lock, {}, async () => {
      pending = call(writing("late"));
      await call(fake());
      expect(current()).toBeUndefined();
    });
    await pending;
    expect(current()).toBe("late");
  });

  test("execute rotates the ledger once it is over the policy's cap", async () => {
    await run("init");
    const file = path.join(main.top, ".ai/repo/policy.yaml");
    fs.writeFileSync(
      file,
      fs.readFileSync(file, "utf8").replace("retention_max_lines: 5000", "retention_max_lines: 4"),
    );
    for (let count = 0; count < 6; count += 1) await run("question add", { question: `q${count}` });
    const state = path.join(main.top, ".ai/local/state");
    const archives = fs.readdirSync(state).filter((name) => name.endsWith(".archived"));
    const ledger = fs.readFileSync(path.join(state, "ledger.jsonl"), "utf8").trim().split("\n");
    expect(archives.length).toBeGreaterThan(0);
    expect(ledger.length).toBeLessThanOrEqual(4);
    const moved = archives.flatMap((name) => fs.readFileSync(path.join(state, name), "utf8").trim().split("\n"));
    const asked = [...moved, ...ledger].filter((row) => row.includes("question.opened"));
    expect(asked.length).toBe(6);
  });
});

async function useLayer(): Promise<void> {
  await run("init", { hooks: true });
  main.commit("layer");
  await run("decision add", { what: "Compare exactly", why: "forged states" });
  await run("start", { task: "fix the callback", scope: ["src"] });
  await run("question add", { question: "which port" });
  main.write({ "src/a.test.ts": "a" });
  await run("check", { checkpoint: true });
  await run("checkpoint", { derive: true });
  await run("handover", { derive: true });
  await run("doctor");
  const refused = await run("finish", { outcome: "completed", "verify-command": "true" });
  expect(refused.outcome.result).toMatchObject({ unmet: ["reeve.blocker-resolution"] });
  await run("question resolve", { question: "which port", answer: "8080" });
  const accepted = await run("finish", { outcome: "completed", "verify-command": "true" });
  expect(accepted.outcome.result).toMatchObject({ unmet: [] });
  await run("start", { task: "next", scope: ["src"] });
  const policy = path.join(main.top, ".ai/repo/policy.yaml");
  const text = fs.readFileSync(policy, "utf8");
  fs.writeFileSync(policy, text.replace("retention_max_lines: 5000", "retention_max_lines: 3"));
  await run("question add", { question: "another" });
  await run("doctor");
}

describe("table", () => {
  test("table declares every file that the commands write, each in its class; they are private, and doctor finds them sound", async () => {
    await useLayer();
    const home = path.join(main.top, ".git/reeve/checkouts/main");
    const local = walk(home).map((name) => `.ai/local/${name}`);
    const tracked = walk(path.join(main.top, ".ai"))
      .filter((name) => name !== "local")
      .map((name) => `.ai/${name}`);
    const entries = [...local, ...tracked].map((name) => [name, table.entryFor(name)?.path] as const);
    expect(entries.filter(([, entry]) => entry === undefined)).toEqual([]);
    const kinds = ["current.yaml", "archive/", "completed/", "ledger.jsonl", "ledger.*", "handovers/", "checkpoints/"];
    for (const kind of kinds)
      expect(
        entries.some(([, entry]) => entry === `.ai/local/state/${kind}`),
        kind,
      ).toBe(true);
    for (const [name] of entries) {
      const ours = name.startsWith(".ai/local/state/") ? "records" : "local";
      expect([name, table.groupOf(name)]).toEqual([name, name.startsWith(".ai/local/") ? ours : "config"]);
      expect([name, isDerivedSpelling(name)]).toEqual([name, false]);
    }

    for (const name of walk(home)) expect([name, fs.lstatSync(path.join(home, name)).mode & 0o077]).toEqual([name, 0]);
    expect(main.git("status", "--porcelain", "-uall")).not.toContain(".ai/local");
    expect(main.git("ls-files", "--", ".ai/local")).toBe("");
    expect(fs.readdirSync(path.join(home, "run")).filter((name) => !name.endsWith(".lock"))).toEqual([]);

    const { outcome } = await run("doctor", {}, { caches: false });
    expect((outcome.findings ?? []).filter((finding) => finding.level === "FAIL")).toEqual([]);
  });
});
