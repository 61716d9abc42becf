import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Repository } from "../../git/repository.ts";
import { nodeSystem } from "../../system/node.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import { type Conversions, defineConversions } from "./conversion.ts";
import type { ConversionPlace } from "./place.ts";

/** A layer of an imagined older shape, by the state table's paths. */
export const olderFiles: Readonly<Record<string, string>> = {
  ".ai/repo/old/one.txt": "tidy: yes\n",
  ".ai/repo/old/deep/two.txt": "tidy: no\n",
  ".ai/local/state/notes.txt": "first\nsecond\n",
  ".ai/repo/untouched.txt": "stays\n",
};

/** The same layer after {@link steps}. */
export const newerFiles: Readonly<Record<string, string>> = {
  ".ai/repo/new/one.txt": "tidy: true\n",
  ".ai/repo/new/deep/two.txt": "tidy: false\n",
  ".ai/local/state/notes.jsonl": '{"text":"first"}\n{"text":"second"}\n',
  ".ai/repo/untouched.txt": "stays\n",
};

const words: Readonly<Record<string, string>> = { "tidy: yes": "tidy: true", "tidy: no": "tidy: false" };

/** A folder that moves, then contents that change where they now lie, then a file of another form. */
export const steps: Conversions = defineConversions([
  {
    id: "old-to-new",
    describe: "The folder old is called new.",
    touches: "tracked",
    plan: (files) =>
      files.list(".ai/repo/old/").length === 0
        ? undefined
        : [{ kind: "rename", from: ".ai/repo/old", path: ".ai/repo/new" }],
  },
  {
    id: "words-to-flags",
    describe: "A flag is true or false rather than yes or no.",
    touches: "tracked",
    plan: (files) =>
      files.list(".ai/repo/new/").flatMap((path) => {
        const word = words[files.readText(path)?.trimEnd() ?? ""];
        return word === undefined ? [] : [{ kind: "write" as const, path, bytes: `${word}\n` }];
      }),
  },
  {
    id: "notes-as-lines",
    describe: "Notes are a file of lines.",
    touches: "local",
    plan(files) {
      const text = files.readText(".ai/local/state/notes.txt");
      if (text === undefined) return undefined;
      const lines = text.trimEnd().split("\n");
      const bytes = lines.map((line) => `${JSON.stringify({ text: line })}\n`).join("");
      return [
        { kind: "remove", path: ".ai/local/state/notes.txt" },
        { kind: "write", path: ".ai/local/state/notes.jsonl", bytes },
      ];
    },
  },
]);

/** The place in which a Reeve of a version works, at a time. */
export function placeIn(root: string, version: string, now?: Date): ConversionPlace {
  const top = join(root, "top") as AbsPath;
  const gitDir = join(root, "git") as AbsPath;
  const path = join(gitDir, "reeve", "checkouts", "main") as AbsPath;
  const repository: Repository = { top, gitDir, commonDir: gitDir, kind: "main", checkout: "main", unusual: false };
  const home = { mode: "git", path, exists: true, linked: true, misplaced: undefined, foreign: false } as const;
  const real = nodeSystem({ cwd: root, env: { REEVE_HOME: join(root, "user") } });
  const system: System = now === undefined ? real : { ...real, now: () => now };
  return { system, repository, home, version };
}

/** Writes files of a layer where they belong. */
export function writeLayer(root: string, files: Readonly<Record<string, string>>): void {
  for (const folder of ["top/.ai", "git/reeve/checkouts/main/state", "git/reeve/checkouts/main/run"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const [path, text] of Object.entries(files)) {
    const where = whereIs(root, path);
    mkdirSync(dirname(where), { recursive: true });
    writeFileSync(where, text);
  }
}

/** Where a path of the state table lies below the scene's root. */
export function whereIs(root: string, path: string): string {
  const local = ".ai/local/";
  return path.startsWith(local)
    ? join(root, "git/reeve/checkouts/main", path.slice(local.length))
    : join(root, "top", path);
}
