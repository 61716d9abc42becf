import { describe, expect, test } from "vitest";
import { type Answer, makeScene, type Scene } from "../scene.ts";
import { findDisagreements, parseRows, readFacts } from "./agreement.ts";
import { makeClone, placeAt } from "./place.ts";

const timeout = 600_000;

function say(answers: readonly Answer[]): string {
  return answers.map(({ exit, stdout, stderr }) => `${exit}: ${stdout}${stderr}`).join("\n");
}

function countTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

async function begin(
  scene: Scene,
  commands: readonly { readonly args: readonly string[]; readonly input?: string }[],
): Promise<readonly Answer[]> {
  return Promise.all(commands.map(({ args, input }) => scene.begin(args, input === undefined ? {} : { input }).ended));
}

function decide(title: string): { readonly args: readonly string[] } {
  return { args: ["decision", "add", title, "--why", "w"] };
}

describe("reeve decision add", () => {
  test("twenty at once leave twenty decisions and twenty ledger lines", { timeout }, async () => {
    const scene = makeScene({ layer: true });
    const answers = await begin(
      scene,
      countTo(20).map((index) => decide(`d${index}`)),
    );
    expect(
      answers.map(({ exit }) => exit),
      say(answers),
    ).toEqual(countTo(20).map(() => 0));
    const facts = readFacts(scene.repo);
    expect(facts.decisions).toHaveLength(20);
    expect(facts.rows).toHaveLength(20);
    expect(findDisagreements(facts)).toEqual([]);
  });

  test("as the first two commands of a fresh clone makes one home and loses neither", { timeout }, async () => {
    const scene = makeScene({ layer: true });
    for (const round of countTo(5)) {
      const fresh = makeClone(scene, `fresh-${round}`);
      const answers = await begin(fresh, [decide("one"), decide("two")]);
      expect(
        answers.map(({ exit }) => exit),
        say(answers),
      ).toEqual([0, 0]);
      const facts = readFacts(fresh.repo);
      expect([...facts.decisions].sort()).toEqual(["one", "two"]);
      expect(findDisagreements(facts)).toEqual([]);
      expect(fresh.sh("ls .git/reeve/checkouts").stdout).toBe("main\n");
    }
  });

  test("as the first two commands of a fresh linked worktree makes one home and loses neither", {
    timeout,
  }, async () => {
    const scene = makeScene({ layer: true });
    for (const round of countTo(5)) {
      scene.git(["worktree", "add", "-q", `../linked-${round}`]);
      const linked = placeAt(scene, `linked-${round}`);
      const answers = await begin(linked, [decide("one"), decide("two")]);
      expect(
        answers.map(({ exit }) => exit),
        say(answers),
      ).toEqual([0, 0]);
      const facts = readFacts(linked.repo);
      expect([...facts.decisions].sort()).toEqual(["one", "two"]);
      expect(findDisagreements(facts)).toEqual([]);
      const homes = countTo(round + 1).map((index) => `linked-${index}\n`);
      expect(scene.sh("ls .git/reeve/checkouts").stdout).toBe([...homes, "main\n"].join(""));
    }
    expect(scene.ledger()).toEqual([]);
  });
});

describe("reeve start", () => {
  test("called twice at once begins one task: one answers 0, the other 15", { timeout }, async () => {
    const scene = makeScene({ layer: true });
    for (const round of countTo(10)) {
      const start = { args: ["start", `round ${round}`, "--scope", "src"] };
      const answers = await begin(scene, [start, start]);
      expect(answers.map(({ exit }) => exit).sort(), say(answers)).toEqual([0, 15]);
      const facts = readFacts(scene.repo);
      expect(findDisagreements(facts)).toEqual([]);
      expect(facts.rows.filter((row) => row["task"] === `round ${round}`)).toHaveLength(1);
      const closed = scene.reeve(["handover", "--derive", "--close"]);
      expect(closed.exit, closed.stdout + closed.stderr).toBe(0);
    }
  });
});

/** Runs readers again and again until told to stop, and judges everything they print. */
function keepReading(scene: Scene): { stop(): Promise<number> } {
  const readers: readonly (readonly string[])[] = [
    ["status", "--json"],
    ["history", "--json", "--all"],
    ["check", "--json"],
  ];
  let stopped = false;
  const read = async (args: readonly string[]): Promise<number> => {
    for (let runs = 1; ; runs += 1) {
      const { exit, stdout, stderr } = await scene.begin(args).ended;
      const where = `${args.join(" ")}: exit ${exit}, ${stdout}${stderr}`;
      expect([0, 10], where).toContain(exit);
      expect(stderr, where).toBe("");
      expect(parseRows(stdout).torn, where).toEqual([]);
      expect(stdout, where).not.toContain('"ok":false');
      if (stopped) return runs;
    }
  };
  const running = Promise.all(readers.map(read));
  running.catch(() => undefined);
  return {
    async stop() {
      stopped = true;
      return (await running).reduce((sum, runs) => sum + runs, 0);
    },
  };
}

describe("commands that write", () => {
  test("all happen when twenty different ones run at once, and readers always see whole records", {
    timeout,
  }, async () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "many", "--scope", "src"]).exit).toBe(0);
    const note = "# Objective\n\nGo on.\n\n# Current State\n\nHalf.\n\n# Next Action\n\n- The other half.\n";
    const commands = countTo(5).flatMap((index) => [
      { args: ["question", "add", `why ${index}?`] },
      { args: ["checkpoint"], input: `Step ${index} is done.\n` },
      { args: ["handover"], input: `${note}\nVersion ${index}.\n` },
      decide(`d${index}`),
    ]);
    const reading = keepReading(scene);
    const answers = await begin(scene, commands);
    expect(await reading.stop()).toBeGreaterThan(2);
    expect(
      answers.map(({ exit }) => exit),
      say(answers),
    ).toEqual(commands.map(() => 0));
    const facts = readFacts(scene.repo);
    expect(findDisagreements(facts)).toEqual([]);
    const { decisions, questions, handovers, checkpoints, rows } = facts;
    expect([decisions, questions, handovers, checkpoints].map((list) => list.length)).toEqual([5, 5, 5, 5]);
    expect(rows).toHaveLength(21);
  });
});
