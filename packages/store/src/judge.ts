import { anchorOf, checksumOfFile, readPart, readWhole } from "./digest.ts";
import { type Image, readImage } from "./rooted.ts";
import type { AppendStep, Before, RenameStep, Step, WriteStep } from "./steps.ts";

/**
 * Where a step stands on the disk: not begun, an append begun and not finished, done, or `foreign`: what lies there is
 * neither what the step found nor what it leaves, so somebody else has been there.
 */
export type Standing = "before" | "partial" | "after" | "foreign";

/** Compares a journalled step with the disk. */
export function readStanding(step: Step): Standing {
  if (step.kind === "rename") return standingOfMove(step);
  const image = readImage(step.place.real);
  switch (step.kind) {
    case "write":
      return standingOfWrite(step, image);
    case "append":
      return image.kind === "file" ? standingOfAppend(step, image.size) : "foreign";
    case "remove":
      return image.kind === "absent" ? "after" : beforeOrForeign(step, image);
    case "mkdir":
      return image.kind === "directory" ? "after" : beforeOrForeign(step, image);
    case "symlink":
      return image.kind === "link" && image.target === step.target ? "after" : beforeOrForeign(step, image);
    case "chmod":
      return "mode" in image && image.mode === step.mode ? "after" : beforeOrForeign(step, image);
  }
}

/** What a step finds on the disk, to be remembered in the journal. */
export function readBefore(step: Step): Before {
  const path = step.kind === "rename" ? step.from.real : step.place.real;
  const image = readImage(path);
  if (step.kind === "chmod" && "mode" in image) return { kind: "mode", mode: image.mode };
  switch (image.kind) {
    case "file":
      return step.kind === "append"
        ? { kind: "mode", mode: image.mode }
        : { kind: "file", checksum: checksumOfFile(path) };
    case "directory":
      return { kind: "directory", inode: image.inode };
    case "link":
      return { kind: "link", target: image.target };
    default:
      return { kind: "absent" };
  }
}

function standingOfWrite(step: WriteStep, image: Image): Standing {
  if (image.kind !== "file") return beforeOrForeign(step, image);
  const { real } = step.place;
  if (image.size === step.bytes.length || (step.grows === true && image.size > step.bytes.length)) {
    if (readPart(real, 0, step.bytes.length).equals(step.bytes)) return "after";
  }
  return beforeOrForeign(step, image);
}

function standingOfAppend({ place, bytes, offset, anchor }: AppendStep, size: number): Standing {
  if (size < offset || anchorOf(place.real, offset) !== anchor) return "foreign";
  const there = readPart(place.real, offset, bytes.length);
  if (there.equals(bytes)) return "after";
  if (there.length === 0) return "before";
  return size <= offset + bytes.length && isRemnant(there, bytes) ? "partial" : "foreign";
}

/** A power cut may keep a part of what was written, and the length of the rest without its bytes: zeros lie there then. */
function isRemnant(there: Uint8Array, bytes: Uint8Array): boolean {
  return there.every((byte, at) => byte === bytes[at] || byte === 0);
}

function standingOfMove(step: RenameStep): Standing {
  const target = readImage(step.place.real);
  if (target.kind !== "absent") return matches(step.before, target, step.place.real) ? "after" : "foreign";
  return matches(step.before, readImage(step.from.real), step.from.real) ? "before" : "foreign";
}

function beforeOrForeign(step: Step, image: Image): Standing {
  return matches(step.before, image, step.place.real) ? "before" : "foreign";
}

function matches(before: Before | undefined, image: Image, path: string): boolean {
  switch (before?.kind) {
    case undefined:
      return false;
    case "mode":
      return "mode" in image && image.mode === before.mode;
    case "file":
      return image.kind === "file" && checksumOfFile(path) === before.checksum;
    case "directory":
      return image.kind === "directory" && image.inode === before.inode;
    case "link":
      return image.kind === "link" && image.target === before.target;
    case "absent":
      return image.kind === "absent";
  }
}

/** The bytes of a file once the step is done; `undefined` when it will not be done there. */
export function readOutcome(step: WriteStep | AppendStep): Uint8Array | undefined {
  const standing = readStanding(step);
  if (standing === "foreign") return undefined;
  if (standing === "after") return readWhole(step.place.real);
  if (step.kind === "write") return step.bytes;
  return Buffer.concat([readPart(step.place.real, 0, step.offset), step.bytes]);
}
