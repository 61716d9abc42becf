import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildEngine, type Engine } from "./engine.ts";
import type { Stage } from "./rehearsal.ts";
import { subjects } from "./subjects.ts";

/** A stage for each subject that a size is given for, below a folder. */
export async function openStages(folder: string, sizes: Readonly<Record<string, number>>): Promise<Stage<unknown>[]> {
  return stagesFor(await buildEngine(folder), folder, sizes);
}

/** The same for an engine that is built. */
export function stagesFor(engine: Engine, folder: string, sizes: Readonly<Record<string, number>>): Stage<unknown>[] {
  return Object.entries(sizes).map(([name, size]) => {
    const subject = subjects[name];
    if (subject === undefined) throw new Error(`there is no subject ${name}`);
    const own = join(folder, name.replaceAll(/\W+/g, "-"));
    mkdirSync(own);
    return { engine, subject, size, folder: own };
  });
}

export function resized(sizes: Readonly<Record<string, number>>, factor: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, Math.ceil(size * factor)]));
}
