import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeDirectories, replaceFile, syncDirectory, unlinkFile, writeFully } from "./atomic.ts";
import { errnoOf, toStoreError } from "./errors.ts";
import type { AppendStep, ChmodStep, RenameStep, Step, SymlinkStep } from "./steps.ts";
import { temporaryName } from "./temporaries.ts";

/**
 * Does one step and makes its content durable; the folders whose entries changed are added to `folders` and have to be
 * synced by the caller. A step that fails leaves the path as it was.
 */
export function performStep(step: Step, folders: Set<string>): void {
  const path = step.place.real;
  if (step.kind === "write" || step.kind === "rename" || step.kind === "symlink" || step.kind === "mkdir") {
    for (const parent of makeDirectories(dirname(path), step.dirMode)) folders.add(parent);
  }
  switch (step.kind) {
    case "write":
      replaceFile(path, step.bytes, { mode: step.mode, symlink: "replace" });
      break;
    case "append":
      growFile(step);
      return;
    case "remove":
      unlinkFile(path);
      break;
    case "rename":
      moveEntry(step, folders);
      return;
    case "mkdir":
      for (const parent of makeDirectories(path, step.mode)) folders.add(parent);
      return;
    case "symlink":
      placeLink(step);
      break;
    case "chmod":
      changeMode(step);
      return;
  }
  folders.add(dirname(path));
}

/** Cuts a file back to a size and makes that durable. */
export function truncateFile(path: string, size: number): void {
  const cut = (file: number): void => {
    ftruncateSync(file, size);
    fsyncSync(file);
  };
  withOpened(path, { flags: constants.O_WRONLY | constants.O_NOFOLLOW, doing: "cut the file back" }, cut);
}

/** Makes durable what another process wrote and perhaps did not live to sync. */
export function syncFile(path: string): void {
  try {
    fsyncPath(path);
  } catch (error) {
    throw toStoreError(error, path, "sync the file");
  }
}

function growFile({ place, bytes }: AppendStep): void {
  const { O_WRONLY, O_APPEND, O_NOFOLLOW } = constants;
  withOpened(place.real, { flags: O_WRONLY | O_APPEND | O_NOFOLLOW, doing: "append to the file" }, (file) => {
    const { size } = fstatSync(file);
    try {
      writeFully(file, bytes);
      fsyncSync(file);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
  });
}

/**
 * What is moved is nowhere else, so its new folder is durable before it goes there, and the move before anything else
 * takes its old name.
 */
function moveEntry({ from, place }: RenameStep, folders: Set<string>): void {
  for (const folder of folders) syncDirectory(folder);
  folders.clear();
  try {
    renameSync(from.real, place.real);
  } catch (error) {
    throw toStoreError(error, place.real, `move ${from.real} there`);
  }
  for (const folder of new Set([dirname(place.real), dirname(from.real)])) syncDirectory(folder);
}

/** A link is made under another name first, so that one that is there is replaced and never missing. */
function placeLink({ place, target }: SymlinkStep): void {
  const temporary = temporaryName(place.real);
  try {
    symlinkSync(target, temporary);
    try {
      renameSync(temporary, place.real);
    } catch (error) {
      unlinkSync(temporary);
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, place.real, "make the symbolic link");
  }
}

function changeMode({ place, mode }: ChmodStep): void {
  try {
    chmodSync(place.real, mode);
  } catch (error) {
    throw toStoreError(error, place.real, "change the mode");
  }
  try {
    fsyncPath(place.real);
  } catch (error) {
    // A mode that forbids reading cannot be synced through the file itself.
    if (errnoOf(error) !== "EACCES") throw toStoreError(error, place.real, "sync the mode");
  }
}

function fsyncPath(path: string): void {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function withOpened(path: string, how: { flags: number; doing: string }, use: (file: number) => void): void {
  try {
    const file = openSync(path, how.flags);
    try {
      use(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw toStoreError(error, path, how.doing);
  }
}
