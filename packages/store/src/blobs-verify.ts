import { closeSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { hashFile, openBlobFile } from "./blobs-file.ts";
import { entriesIn, foldersIn, isBlobName, isHash, writerOf } from "./blobs-place.ts";
import { messageOf } from "./errors.ts";
import { isAlive } from "./temporaries.ts";

/** Something that does not belong into a folder of blobs as it is. */
export interface BlobProblem {
  readonly path: string;
  /**
   * `content`: other bytes than the name says. `misplaced`: a blob's name in another folder than its own. `not-a-file`: a
   * folder, link or pipe where a blob would be. `temporary`: left by a writer that is gone. `set-aside`: a damaged blob that
   * a put replaced. `unreadable`: the system refuses to read it. `foreign`: anything else.
   */
  readonly kind: "content" | "misplaced" | "not-a-file" | "temporary" | "set-aside" | "unreadable" | "foreign";
  /** For a person. */
  readonly reason: string;
}

/** Reads every blob and tells what is wrong. */
export async function* verifyBlobs(root: string): AsyncGenerator<BlobProblem> {
  const folders = new Set(foldersIn(root));
  for (const { name } of entriesIn(root)) {
    const path = join(root, name);
    if (folders.has(path)) {
      yield* verifyFolder(path);
      continue;
    }
    const writer = writerOf(name);
    if (writer === undefined) yield strangerOf(path, name);
    else if (!isAlive(writer)) yield { path, kind: "temporary", reason: `left by process ${writer}, which is gone` };
  }
}

async function* verifyFolder(folder: string): AsyncGenerator<BlobProblem> {
  const entries = listFolder(folder);
  if (!Array.isArray(entries)) {
    yield entries;
    return;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (!isBlobName(folder, entry.name)) yield strangerOf(path, entry.name);
    else if (!entry.isFile()) yield { path, kind: "not-a-file", reason: "is no file" };
    else {
      const problem = await verifyBlob(path, entry.name);
      if (problem !== undefined) yield problem;
    }
  }
}

function listFolder(folder: string): Dirent[] | BlobProblem {
  try {
    return entriesIn(folder);
  } catch (error) {
    return { path: folder, kind: "unreadable", reason: messageOf(error) };
  }
}

function strangerOf(path: string, name: string): BlobProblem {
  if (isHash(name)) return { path, kind: "misplaced", reason: `belongs into ${name.slice(0, 2)}/` };
  if (asideForm.test(name)) return { path, kind: "set-aside", reason: "was damaged and has been replaced" };
  return { path, kind: "foreign", reason: "is no blob" };
}

const asideForm = /^[0-9a-f]{64}\.corrupt-/;

/** A blob that is gone meanwhile is none. */
async function verifyBlob(path: string, hash: string): Promise<BlobProblem | undefined> {
  try {
    const file = openBlobFile(path);
    if (file === undefined) return undefined;
    try {
      const found = await hashFile(file, path);
      if (found === hash) return undefined;
      return { path, kind: "content", reason: `the content's hash is ${found}` };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { path, kind: "unreadable", reason: messageOf(error) };
  }
}
