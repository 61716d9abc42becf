import * as path from "node:path";
import { type Checkout, makeScene, type Scene } from "@reeve/core/git/fixture.ts";
import { createChange } from "@reeve/core/layer/layer.ts";
import { type Conversions, defineConversions } from "@reeve/core/state/conversions/conversion.ts";
import type { AbsPath } from "@reeve/core/system/paths.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Command, type Definition, defineCommand } from "./command.ts";
import { type Answer, execute } from "./execute.ts";
import { registry } from "./registry.ts";

const shareFolder = path.resolve(import.meta.dirname, "../../../share") as AbsPath;
const older = ".ai/local/state/older.txt";
const newer = ".ai/local/state/newer.txt";

const conversions: Conversions = defineConversions([
  {
    id: "older-to-newer",
    describe: "The file older.txt is called newer.txt.",
    touches: "local",
    plan: (files) => (files.read(older) === undefined ? undefined : [{ kind: "rename", from: older, path: newer }]),
  },
]);

let scene: Scene;
let main: Checkout;

beforeEach(() => {
  scene = makeScene();
  main = scene.make("main tree");
  main.write({ ".ai/manifest.yaml": "version: 1\n" });
});
afterEach(() => scene.remove());

type Fake = Partial<Definition<Record<never, never>, unknown, unknown>>;

function fake(changes: Fake): Command {
  return defineCommand<Record<never, never>, unknown, unknown>({
    name: "fake",
    summary: "",
    examples: [],
    args: {},
    class: "state-mutating",
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

interface Asked {
  readonly args?: Readonly<Record<string, unknown>>;
  readonly dry?: boolean;
  readonly version?: string;
  readonly conversions?: Conversions;
}

function call(command: Command, asked: Asked = {}): Promise<Answer> {
  return execute({
    command,
    args: {},
    system: main.system({ USER: "ada" }),
    version: "1.0.0",
    shareFolder,
    program: "/opt/reeve",
    registry,
    start: main.top,
    dry: false,
    caches: false,
    prefetched: undefined,
    conversions,
    ...asked,
  });
}

/** A command that reads both files before the lock is taken, in `prepare`, and under it. */
const reading: Fake = {
  prepare: (_args, { layer }) => [layer.read(older), layer.read(newer)],
  run: (_args, { layer }, prepared) => ({ result: { prepared, run: [layer.read(older), layer.read(newer)] } }),
};

async function named(name: string): Promise<Command> {
  const command = await registry.find((entry) => entry.name === name)?.load();
  if (command === undefined) throw new Error(`there is no ${name}`);
  return command;
}

async function makeOlder(): Promise<void> {
  await call(
    fake({ run: (_args, { layer }) => ({ result: "", plan: { changes: [createChange(layer, older, "x\n")] } }) }),
    {
      conversions: [],
    },
  );
}

describe("a command, over files of an older shape", () => {
  test("that writes finds them converted before it reads anything, and says so once", async () => {
    await makeOlder();
    const { outcome, notices } = await call(fake(reading));
    expect(outcome.result).toEqual({ prepared: [undefined, "x\n"], run: [undefined, "x\n"] });
    expect(notices).toEqual([expect.stringMatching(/^2 files converted/)]);
    expect((await call(fake(reading))).notices).toEqual([]);
  });

  test("that reads, or is a dry run, or works on files as they lie leaves them", async () => {
    await makeOlder();
    const all: readonly (readonly [Fake, Asked])[] = [
      [{ ...reading, class: "read-only" }, {}],
      [reading, { dry: true }],
      [{ ...reading, unconverted: true }, {}],
    ];
    for (const [changes, asked] of all) {
      const { outcome, notices } = await call(fake(changes), asked);
      expect(outcome.result).toEqual({ prepared: ["x\n", undefined], run: ["x\n", undefined] });
      expect(notices).toEqual([]);
    }
  });

  test("that writes is refused to an older Reeve until the files are put back, by which Reeve ever", async () => {
    await makeOlder();
    await call(fake(reading));
    const old = { conversions: [], version: "0.9.0" };
    await expect(call(fake(reading), old)).rejects.toMatchObject({ code: "STATE_NEWER" });
    expect((await call(fake({ ...reading, class: "read-only" }), old)).outcome.result).toMatchObject({
      run: [undefined, "x\n"],
    });
    const journal = await call(await named("state journal"), old);
    const [episode] = (journal.outcome.result as { episodes: readonly { id: string }[] }).episodes;
    const rollback = await named("state rollback");
    const args = { episode: episode?.id };
    const planned = await call(rollback, { ...old, args, dry: true });
    expect(planned.outcome.result).toMatchObject({ dry_run: true, restored: [newer, older].sort(), left: [] });
    const done = await call(rollback, { ...old, args });
    expect(done.outcome.result).toMatchObject({ dry_run: false, restored: [newer, older].sort(), left: [] });
    const { outcome, notices } = await call(fake(reading), old);
    expect([outcome.result, notices]).toEqual([{ prepared: ["x\n", undefined], run: ["x\n", undefined] }, []]);
  });

  test("that writes at the same time as others finds them converted, once", async () => {
    await makeOlder();
    const answers = await Promise.all([1, 2, 3, 4].map(() => call(fake(reading))));
    for (const { outcome } of answers) expect(outcome.result).toMatchObject({ run: [undefined, "x\n"] });
    expect(answers.flatMap(({ notices }) => notices)).toHaveLength(1);
    const { result } = (await call(await named("state journal"))).outcome;
    expect((result as { episodes: readonly unknown[] }).episodes).toHaveLength(1);
  });

  test("that fails leaves them converted and committed", async () => {
    await makeOlder();
    const failing = fake({
      run: () => {
        throw new Error("no");
      },
    });
    await expect(call(failing)).rejects.toThrow("no");
    const { outcome } = await call(fake({ ...reading, class: "read-only" }));
    expect(outcome.result).toMatchObject({ run: [undefined, "x\n"] });
    const { result } = (await call(await named("state journal"))).outcome;
    expect(result).toMatchObject({ episodes: [{ state: "committed", files: [newer, older].sort() }], pending: [] });
  });
});
