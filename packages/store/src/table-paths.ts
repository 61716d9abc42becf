/**
 * A path with its separators and `.` and `..` folded, relative to the root; `undefined` when it is absolute or climbs out.
 * The root itself is "".
 */
export function foldPath(path: string): string | undefined {
  const unified = path.replaceAll("\\", "/");
  if (unified.startsWith("/") || /^[A-Za-z]:/.test(unified)) return undefined;
  const names: string[] = [];
  for (const name of unified.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.join("/");
}

/**
 * A folded path as the most forgiving file system sees it: without case, in one normal form, without characters, trailing
 * dots and spaces and stream names that some systems ignore. Two paths that may be one file are equal after it.
 */
export function loosePath(path: string): string {
  const folded = ascii.test(path) ? path.toLowerCase() : foldCase(path);
  return folded
    .split("/")
    .map((name) => name.replace(/:.*$/s, "").replace(/[. ]+$/, ""))
    .join("/");
}

const ascii = /^[ -~]*$/;

function foldCase(path: string): string {
  return path.normalize("NFC").replace(ignored, "").toUpperCase().toLowerCase();
}

const ignored = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * The file a derived spelling belongs to: its lock, index, damaged lines, last good copy, quarantined content or temporary
 * file, of whatever depth; `undefined` for every other name.
 */
export function originalOf(path: string): string | undefined {
  let original = path;
  for (;;) {
    const shorter = withoutEnding(original);
    if (shorter === undefined) return original === path ? undefined : original;
    original = shorter;
  }
}

const endings = /^(.+?)\.(?:lock(?:\.break2?|\.wait)?|idx|damaged|last-good|corrupt-[^./][^/]*)$/s;
const temporary = /^\.(.+)\.\d+\.[0-9a-z]+\.tmp$/s;

function withoutEnding(path: string): string | undefined {
  const cut = path.lastIndexOf("/") + 1;
  const name = path.slice(cut);
  const shorter = (temporary.exec(name) ?? endings.exec(name))?.[1];
  return shorter === undefined ? undefined : path.slice(0, cut) + shorter;
}
