/** Why a name could not be the same file on every machine a bundle may reach; `undefined` when it could. */
export function judgeName(path: string): string | undefined {
  if (path === "") return "has no name";
  if (path.includes("\uFFFD") || /\p{Cs}/u.test(path)) return "has a name that is not UTF-8";
  if (/\p{Cc}/u.test(path)) return "has a control character in its name";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is an absolute path";
  if (path.includes("\\")) return "has a backslash in its name";
  const names = path.split("/");
  if (names.includes("..")) return "leaves the layer with ..";
  if (names.some((name) => name === "" || name === ".")) return "is not a plain path";
  if (Buffer.byteLength(path) > 4096 || names.some((name) => Buffer.byteLength(name) > 255))
    return "is too long a name";
  return undefined;
}

/** Names that one file system holds apart and another takes for one. */
function foldName(path: string): string {
  return path.normalize("NFC").toUpperCase().toLowerCase();
}

/** Refuses a set of paths of which two could be one file, or one lies below another; answers what is wrong. */
export function findClash(paths: readonly string[]): string | undefined {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const other = seen.get(foldName(path));
    if (other === path) return `${path} is there twice`;
    if (other !== undefined) return `${path} and ${other} differ only in case`;
    seen.set(foldName(path), path);
  }
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const above = seen.get(foldName(path.slice(0, at)));
      if (above !== undefined) return `${path} lies below ${above}, which is a file`;
    }
  }
  return undefined;
}

/** Does one of the paths name this one, or a folder around it? */
export function isNamed(path: string, by: readonly string[]): boolean {
  return by.some((name) => {
    const plain = trimName(name);
    return path === plain || path.startsWith(`${plain}/`);
  });
}

/** As a person may write a path of the table: with `./` before it or `/` after it. */
function trimName(name: string): string {
  return name.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
}
