import type { Breakage } from "./engine.ts";
import type { Family } from "./trials.ts";

/** The library with one thing broken on purpose, and the families that must find it. */
export interface Mutant {
  readonly name: string;
  readonly breakage: Breakage;
  readonly caughtBy: readonly Family[];
  /** The subject that shows it; left out: the first that does. */
  readonly subject?: string;
}

const [crash, lost, refused, crowd, hostile]: readonly [Family, Family, Family, Family, Family] = [
  "every crash point",
  "lost cache",
  "refused disk",
  "many processes",
  "hostile bytes",
];

/** A member of another object; the texts that are broken know it by no name. */
const fs = 'process.getBuiltinModule("node:fs")';

export const mutants: readonly Mutant[] = [
  {
    name: "no sync before a rename",
    breakage: { file: "atomic.ts", from: "      fsyncSync(file);\n", to: "" },
    caughtBy: [lost],
  },
  {
    name: "no sync of a folder",
    breakage: { file: "atomic.ts", from: "fsyncSync(folder);", to: "" },
    caughtBy: [lost],
  },
  {
    name: "no sync of an append before it is acknowledged",
    breakage: {
      file: "append-bytes.ts",
      from: "if (isAlone) fdatasyncSync(file);",
      to: "if (isAlone) fdatasync(file, () => {});",
    },
    caughtBy: [lost, refused],
  },
  {
    name: "no sync of a blob before it has its name",
    breakage: { file: "blobs-put.ts", from: 'if (durability === "fsync") await sync(fsync, file, path);', to: "" },
    caughtBy: [lost],
    subject: "blobs",
  },
  {
    name: "no sync of a torn line's newline before an append",
    breakage: {
      file: "append-bytes.ts",
      from: "  fdatasyncSync(file);\n  return size + newline.length;",
      to: "  return size + newline.length;",
    },
    caughtBy: [lost],
    subject: "a store, not synced",
  },
  {
    name: "no sync of a store before its index",
    breakage: { file: "store-index.ts", from: "  fsyncSync(file);\n", to: "" },
    caughtBy: [lost],
    subject: "a store with an index",
  },
  {
    name: "no newline before an append to a torn line",
    breakage: { file: "append-bytes.ts", from: "if (size === 0 || readRange(", to: "if (size >= 0 || readRange(" },
    caughtBy: [crash, hostile],
  },
  {
    name: "no cutting back of a write that was refused",
    breakage: { file: "append-bytes.ts", from: "ftruncateSync(file, size);", to: "" },
    caughtBy: [refused],
  },
  {
    name: "no word of a write that was refused",
    breakage: {
      file: "append-bytes.ts",
      from: "    cutBack(file, size);\n    throw error;",
      to: "    cutBack(file, size);",
    },
    caughtBy: [refused],
  },
  {
    name: "no lock at a compaction",
    breakage: {
      file: "store.ts",
      from: "const hold = await takeLock(this.#lockPath, this.#options.lock ?? {});",
      to: "const hold = await takeLock(`${this.#lockPath}.${process.pid}`, {});",
    },
    caughtBy: [crowd],
  },
  {
    name: "no lock at an append",
    breakage: {
      file: "appender.ts",
      from: "const hold = await takeLock(lockPath, lock);",
      to: "const hold = await takeLock(`${lockPath}.${process.pid}`, lock);",
    },
    caughtBy: [crowd],
  },
  {
    name: "an append to a file that was replaced",
    breakage: { file: "appender.ts", from: "there !== undefined && isSameFile(info, there)", to: "info.size >= 0" },
    caughtBy: [crowd],
  },
  {
    name: "a living holder counts as gone",
    breakage: { file: "lock-break.ts", from: 'return state === "gone" ||', to: 'return state !== "elsewhere" ||' },
    caughtBy: [crowd],
  },
  {
    name: "a file is replaced in place",
    breakage: {
      file: "atomic.ts",
      from: "renameSync(temporary, target);",
      to: `${fs}.writeFileSync(target, ${fs}.readFileSync(temporary)); discard(temporary);`,
    },
    caughtBy: [crash, lost],
  },
  {
    name: "what killed writers left is not swept",
    breakage: { file: "temporaries.ts", from: "sweepFolder(folder, (prefix) => wanted.has(prefix));", to: "" },
    caughtBy: [crash],
  },
  {
    name: "a plan of many changes is not written down first",
    breakage: {
      file: "apply.ts",
      from: "performJournalled(steps, options.journal);",
      to: "performAll(steps, () => {});",
    },
    caughtBy: [crash],
    subject: "plans",
  },
  {
    name: "an index is taken for any file's",
    breakage: { file: "store-index.ts", from: "if (!isOf(header, info, key)) return undefined;", to: "" },
    caughtBy: [crash],
    subject: "a store with an index",
  },
  {
    name: "a torn line counts as an entry",
    breakage: {
      file: "line-scanner.ts",
      from: "visitor.damaged(line, found.reason);",
      to: `const torn = /^\\{"id":"(\\w+)"/.exec(Buffer.from(bytes).toString("latin1"))?.[1];
        if (line.isTail && torn !== undefined) visitor.entry(line, keyBytes(torn));
        else visitor.damaged(line, found.reason);`,
    },
    caughtBy: [crash, hostile],
  },
  {
    name: "removals are overlooked",
    breakage: {
      file: "store-view.ts",
      from: "removal: (line, key) => {\n      this.#table.delete(key);",
      to: "removal: (line, key) => {",
    },
    caughtBy: [crash, hostile],
  },
  {
    name: "the first line of a key wins",
    breakage: {
      file: "store-view.ts",
      from: "entry: (line, key) => {\n      this.#table.set(key, line);",
      to: "entry: (line, key) => {\n      if (this.#table.find(key) < 0) this.#table.set(key, line);",
    },
    caughtBy: [crash, hostile],
  },
  {
    name: "a compaction drops damaged lines",
    breakage: {
      file: "store-rewrite.ts",
      from: "if (damaged.length === 0) return;",
      to: "if (damaged.length >= 0) return;",
    },
    caughtBy: [crash, hostile],
  },
  {
    name: "a member may come twice",
    breakage: { file: "strict.ts", from: "if (Object.hasOwn(members, name)) fail(", to: 'if (name === "") fail(' },
    caughtBy: [hostile],
  },
];
