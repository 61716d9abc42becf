import { StoreError } from "./errors.ts";
import { originalOf } from "./table-paths.ts";

/**
 * The folder of the layer in which a tool may keep state of its own, from the repository's root and with a slash at its end.
 * `identity` is the tool's name for itself, e.g. `@acme/tool`: it becomes one path segment that is safe on every file system,
 * and two identities never share one, not even where case is ignored. Declare the folder in `.ai/repo/state.jsonl`; what
 * nobody declares never travels. Throws `BAD_VALUE` for an identity that is empty, too long or no Unicode (state-table design, rule 7).
 */
export function stateDirFor(identity: string): string {
  return `.ai/local/state/tools/${segmentOf(identity)}/`;
}

/** The same for what can be made again at any time: it lies in the layer's cache, which never travels and is cleaned. */
export function cacheDirFor(identity: string): string {
  return `.ai/local/cache/tools/${segmentOf(identity)}/`;
}

/** Bytes that one name may have on every file system, less what the temporary spellings of it add. */
const longest = 180;
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:$|\.)/;

function segmentOf(identity: string): string {
  const plain = identity.replace(/[^a-z0-9._-]/gu, escaped);
  const isTaken = reserved.test(plain) || originalOf(plain) !== undefined || /^\.|\.$/.test(plain);
  const segment = isTaken ? plain.replace(/^./, escaped).replaceAll(".", escaped) : plain;
  if (segment === "" || segment.length > longest || /\p{Surrogate}/u.test(identity)) {
    throw new StoreError("BAD_VALUE", `${JSON.stringify(identity)} is no identity of a tool`, {
      hint: `an identity has from 1 to ${longest} characters; each but a-z, 0-9, dot, dash and underscore counts for three or more`,
    });
  }
  return segment;
}

/** `=` begins what is escaped and is escaped itself, so that no two identities become one name. */
function escaped(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => `=${byte.toString(16).padStart(2, "0")}`).join("");
}
