import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRandom } from "../testing/random.ts";
import { type Item, isWhole, itemOf } from "./store-world.ts";
import { type Api, differing, type Moment, type Subject } from "./subject.ts";

export type LogStep =
  | { readonly do: "append"; readonly items: readonly Item[] }
  /** Single appends asked for at once. */
  | { readonly do: "together"; readonly items: readonly Item[] }
  | { readonly do: "reopen" };

const fileName = "ledger.jsonl";
const torn = '{"id":"entry","n":1,"te';
const initialText = `{"id":"first","n":0,"text":"first#0"}\n${torn}`;

/** The log without keys, which begins with one entry and half of another. */
export const logSubject: Subject<LogStep> = {
  name: "a log",
  steps: stepsOf,
  prepare: (root) => writeFileSync(join(root, fileName), initialText),
  open: (api, root) => {
    const options = { path: join(root, fileName) };
    let log = api.openLog(options);
    return {
      run: async (step) => {
        if (step.do === "append") return log.appendAll(step.items.map((item) => ({ ...item })));
        if (step.do === "together") return void (await Promise.all(step.items.map((item) => log.append({ ...item }))));
        await log.close();
        log = api.openLog(options);
      },
    };
  },
  look: (api, root) =>
    JSON.stringify([...api.openLog({ path: join(root, fileName) }).read()].map(({ value }) => value)),
  isJoint: (step) => step.do === "together",
  check,
};

function stepsOf(size: number): LogStep[] {
  const random = newRandom(size);
  let n = 10;
  const next = (): Item => {
    n += 1;
    return itemOf("entry", n, random.below(12));
  };
  return Array.from({ length: size }, (_, at): LogStep => {
    if (at % 9 === 8) return { do: "reopen" };
    const turn = random.below(3);
    if (turn === 0) return { do: "append", items: [next()] };
    return { do: turn === 1 ? "append" : "together", items: [next(), next(), next()] };
  });
}

function itemsOf(step: LogStep | undefined): readonly Item[] {
  return step === undefined || step.do === "reopen" ? [] : step.items;
}

async function check(api: Api, root: string, moment: Moment<LogStep>): Promise<readonly string[]> {
  const path = join(root, fileName);
  const before = readNumbers(api, path, moment);
  const acknowledged = [0, ...moment.acknowledged.flatMap(itemsOf).map(({ n }) => n)];
  const findings = [...before.findings, ...judge(before.numbers, acknowledged, moment)];
  const log = api.openLog({ path });
  await log.append({ ...itemOf("probe", 1) });
  await log.append({ ...itemOf("probe", 2) });
  await log.close();
  const after = readNumbers(api, path, moment);
  findings.push(...after.findings, ...differing("after going on, it", after.numbers, [...before.numbers, 1, 2]));
  const strange = readdirSync(root).filter((name) => name !== fileName);
  if (strange.length > 0) findings.push(`left behind: ${strange.join(", ")}`);
  return findings;
}

/** All that was acknowledged, and of what was under way the beginning, or any part after a power cut. */
function judge(found: readonly number[], acknowledged: readonly number[], moment: Moment<LogStep>): readonly string[] {
  const begun = itemsOf(moment.underWay).map(({ n }) => n);
  const rest = found.slice(acknowledged.length);
  const kept = moment.isPowerCut ? begun.filter((n) => rest.includes(n)) : begun.slice(0, rest.length);
  return differing("the log", found, [...acknowledged, ...kept]);
}

function readNumbers(
  api: Api,
  path: string,
  { isPowerCut, underWay }: Moment<LogStep>,
): { numbers: number[]; findings: string[] } {
  const log = api.openLog<Partial<Item>>({ path });
  const entries = [...log.read()].map(({ value }) => value);
  const findings = entries.filter((item) => !isWhole(item)).map((item) => `an entry is ${JSON.stringify(item)}`);
  const most = underWay === undefined ? 1 : 2;
  if (!isPowerCut && log.problems.length > most) findings.push(`there are ${log.problems.length} damaged lines`);
  return { numbers: entries.map(({ n }) => Number(n)), findings };
}
