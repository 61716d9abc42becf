import { closeSync, constants, linkSync, openSync } from "node:fs";
import { writeFully, writeTemporary } from "./atomic.ts";
import { errnoOf, toStoreError } from "./errors.ts";
import { platform, unsupported } from "./platform.ts";
import { discard } from "./temporaries.ts";

/**
 * Publishes a complete file under a name that must be free, by hard link; answers whether the name was free. The content
 * is never seen half; where no second name can be given, it is seen empty for a moment.
 */
export function publishFile(path: string, bytes: Uint8Array, mode: number): boolean {
  if (!platform.hardLinks) return createFile(path, bytes, mode);
  const temporary = writeTemporary(path, bytes, { mode, owner: undefined });
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (unsupported.has(errnoOf(error))) {
      platform.hardLinks = false;
      return createFile(path, bytes, mode);
    }
    throw toStoreError(error, path, "link the file into place");
  } finally {
    discard(temporary);
  }
}

function createFile(path: string, bytes: Uint8Array, mode: number): boolean {
  try {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      writeFully(file, bytes);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw toStoreError(error, path, "make the file");
  }
}
