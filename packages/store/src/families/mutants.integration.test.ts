import { describe, expect, test } from "vitest";
import { canInjectFaults } from "../testing/fault.ts";
import { memoryFolder } from "../testing/folder.ts";
import { buildEngine } from "./engine.ts";
import { mutants } from "./mutants.ts";
import { say } from "./scale.ts";
import { findingsOf } from "./subject.ts";
import { type Family, trials } from "./trials.ts";

const families = Object.keys(trials) as Family[];

describe.skipIf(!canInjectFaults)("a family's checks", () => {
  test.each(families)("find nothing where nothing is broken: %s", { timeout: 120_000 }, async (family) => {
    const folder = memoryFolder();
    expect(await trials[family](await buildEngine(folder), folder)).toEqual([]);
  });

  const pairs = mutants.flatMap((mutant) => mutant.caughtBy.map((family) => ({ ...mutant, family })));
  test.each(pairs)("find what is broken: $family: $name", { timeout: 120_000 }, async (pair) => {
    const { name, breakage, family, subject } = pair;
    const folder = memoryFolder();
    const engine = await buildEngine(folder, [breakage]);
    const findings = await findingsOf(() => trials[family](engine, folder, subject));
    say(`mutants: "${name}" is found by ${family}: ${String(findings[0]).split("\n")[0]?.slice(0, 160)}`);
    expect(findings).not.toEqual([]);
  });

  test("have each a mutant to find", () => {
    expect(families.filter((family) => !mutants.some(({ caughtBy }) => caughtBy.includes(family)))).toEqual([]);
    expect(mutants.filter(({ caughtBy }) => caughtBy.length === 0)).toEqual([]);
  });
});
