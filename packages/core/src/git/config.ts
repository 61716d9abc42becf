/** What git's own configuration says about where a repository keeps its parts. */
export interface RepositoryConfig {
  readonly bare: boolean;
  /** `core.worktree` as written; relative to the git directory. */
  readonly worktree: string | undefined;
  /** `extensions.refstorage`, lower case; `undefined` means loose and packed files. */
  readonly refStorage: string | undefined;
  /** Each working tree has a `config.worktree` of its own. */
  readonly perWorktree: boolean;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** A value with its quotes, escapes and comment taken away, as `git config` reads it. */
function parseValue(raw: string): string {
  let value = "";
  let kept = 0;
  let quoted = false;
  for (let at = 0; at < raw.length; at++) {
    const char = raw.charAt(at);
    if (char === "\\") {
      at += 1;
      const next = raw.charAt(at);
      value += escapes[next] ?? next;
      kept = value.length;
    } else if (char === '"') {
      quoted = !quoted;
    } else if (!quoted && (char === "#" || char === ";")) {
      break;
    } else {
      value += char;
      if (quoted || char.trim() !== "") kept = value.length;
    }
  }
  return value.slice(0, kept);
}

function isTrue(value: string): boolean {
  const lower = value.toLowerCase();
  return lower === "true" || lower === "yes" || lower === "on" || /^[+-]?0*[1-9]/.test(lower);
}

/** Every `section.key` without a subsection, lower case; the last value of a key wins. */
function parseKeys(text: string): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  let section = "";
  for (const whole of text.replace(/\\\r?\n/g, "").split("\n")) {
    let line = whole.trim();
    const header = /^\[\s*([^\]"\s]+)\s*("(?:[^"\\]|\\.)*")?\s*\]/.exec(line);
    if (header !== null) {
      section = header[2] === undefined ? (header[1] ?? "").toLowerCase() : "";
      line = line.slice(header[0].length).trim();
    }
    const pair = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(line);
    if (section === "" || pair === null) continue;
    keys.set(`${section}.${(pair[1] ?? "").toLowerCase()}`, pair[2] === undefined ? "true" : parseValue(pair[2]));
  }
  return keys;
}

/**
 * Reads the few keys that decide the shape of a repository. Git itself reads these without following `include`, so
 * neither does this. Later texts add to and override earlier ones.
 */
export function parseRepositoryConfig(...texts: readonly string[]): RepositoryConfig {
  const keys = new Map(texts.flatMap((text) => [...parseKeys(text)]));
  return {
    bare: isTrue(keys.get("core.bare") ?? ""),
    worktree: keys.get("core.worktree"),
    refStorage: keys.get("extensions.refstorage")?.toLowerCase(),
    perWorktree: isTrue(keys.get("extensions.worktreeconfig") ?? ""),
  };
}
