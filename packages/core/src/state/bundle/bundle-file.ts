import { ReeveError } from "../../findings/errors.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import { refuseBundle } from "./manifest.ts";

/** The packed bytes of a bundle, decrypted where they were encrypted; each call reads from the beginning. */
export type PackedPieces = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface BundleSource {
  readonly system: System;
  readonly path: AbsPath;
  /** As the person named it. */
  readonly shown: string;
  readonly passphrase: string | undefined;
}

const headBytes = 1 << 16;

/**
 * Looks what a file is, and opens what encrypts it.
 * @throws ReeveError MISSING_FILE, UNREADABLE, or REFUSED for what is no bundle or cannot be decrypted
 */
export async function openBundleFile(source: BundleSource): Promise<PackedPieces> {
  const { system, path, shown, passphrase } = source;
  if (system.info(path) === undefined) {
    throw new ReeveError("MISSING_FILE", `${shown}: there is no such file`, { hint: "reeve state export <file>" });
  }
  const real = system.realPath(path) ?? path;
  const head = Buffer.concat([...system.readPieces(real, headBytes)]);
  if (head[0] === 0x1f && head[1] === 0x8b) return () => system.readPieces(real);
  const { ageHeader, openEncrypted } = await import("./encryption.ts");
  if (!head.subarray(0, ageHeader.length).equals(Buffer.from(ageHeader))) {
    throw refuseBundle(shown, "is no bundle: it begins neither as a gzip nor as an age file");
  }
  if (passphrase === undefined) {
    throw new ReeveError("REFUSED", `${shown}: is encrypted, and no passphrase was given; nothing was written`, {
      hint: "give it with --passphrase-file <file> or in REEVE_PASSPHRASE",
    });
  }
  const header = headerOf(head);
  if (header === undefined) throw refuseBundle(shown, "its encryption header is damaged");
  const decrypt = await openEncrypted(header, passphrase);
  if (decrypt !== undefined) return () => decrypt(system.readPieces(real));
  throw new ReeveError("REFUSED", `${shown}: the passphrase does not open it; nothing was written`, {
    hint: "look at the passphrase file: only the end of its last line is not part of it",
  });
}

/** Up to and with the line of the header's own code (age format, "Header MAC"). */
function headerOf(head: Buffer): Uint8Array | undefined {
  const mark = head.indexOf("\n--- ");
  const end = mark < 0 ? -1 : head.indexOf("\n", mark + 1);
  return end < 0 ? undefined : head.subarray(0, end + 1);
}
