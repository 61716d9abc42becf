import { join, resolve } from "node:path";
import { ReeveError } from "../../findings/errors.ts";
import type { AbsPath } from "../../system/paths.ts";
import type { System } from "../../system/port.ts";
import type { From } from "../from.ts";

export interface SourceWords {
  /** The source as a person typed it. */
  readonly text: string;
  /** `--pin`: a commit, tag or branch. */
  readonly pin?: string;
  /** `--link`: a local folder is read in place. */
  readonly link?: boolean;
}

export interface NamedSource {
  readonly from: From;
  /** The one memory that was named behind the repository, `@owner/repo@name`. */
  readonly memory: string | undefined;
}

const short = /^@?([^/@\s]+)\/([^/@\s]+)(?:@([a-z0-9-]+))?$/;
const owner = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$/;
const repository = /^[A-Za-z0-9._-]+$/;
const url = /^(https?|ssh|git|file):\/\//i;
const scp = /^[^\s/:@]+@[^\s/:]+:(?!\/\/)\S+$/;

/**
 * What a person means by a source (reference memories, section 1.2). Nothing is fetched; a local folder must be there.
 * @throws ReeveError USAGE naming what to type, NOT_FOUND for a folder that is not there
 */
export function parseSource(system: System, words: SourceWords): NamedSource {
  const text = words.text.trim();
  if (text === "") throw misuse("the source is empty", "name a repository (owner/name), an address or a folder");
  if (/[\p{Cc}\u2028\u2029]|-->/u.test(text))
    throw misuse(`${JSON.stringify(text)} cannot be a source`, "type it without line breaks");
  if (isLocal(text)) return { from: parseLocal(system, { ...words, text }), memory: undefined };
  const ref = parsePin(words.pin);
  if (words.link === true)
    throw misuse(`--link: ${text} is no folder of this machine`, "leave --link out, or name a folder (./rules)");
  if (scp.test(text)) return { from: { type: "git", url: plainUrl(text), ref: ref ?? "HEAD" }, memory: undefined };
  if (url.test(text)) return { from: parseUrl(system, text, ref), memory: undefined };
  return parseShort(system, text, ref);
}

/** An address may carry a password, which no message repeats. */
function misuse(message: string, hint: string): ReeveError {
  return new ReeveError("USAGE", redact(message), { hint: redact(hint) });
}

function redact(text: string): string {
  return text.replace(/:\/\/[^/\s]*@/g, "://***@");
}

function isLocal(text: string): boolean {
  return (
    text === "." || text === ".." || text === "~" || /^(?:\.{1,2}|~)?[/\\]/.test(text) || /^[A-Za-z]:[\\/]/.test(text)
  );
}

function parseLocal(system: System, { text, pin, link }: SourceWords): From {
  if (pin !== undefined) {
    throw misuse(
      `--pin ${pin}: a folder has no revisions`,
      `leave --pin out, or name it as a repository: file://${resolve(system.cwd, text)}`,
    );
  }
  const home = system.env["HOME"] ?? "";
  const path = text === "~" || text.startsWith("~/") ? join(home, text.slice(1)) : resolve(system.cwd, text);
  const real = system.realPath(path as AbsPath);
  if (real === undefined || system.info(real)?.kind !== "directory") {
    throw new ReeveError("NOT_FOUND", `${text}: there is no such folder`, {
      hint: "name a folder (./rules), a repository (owner/name) or an address (https://…)",
      details: { path },
    });
  }
  return { type: "local", path: real, ...(link === true || text === "." ? { live: true as const } : {}) };
}

function parsePin(pin: string | undefined): string | undefined {
  if (pin === undefined) return undefined;
  const isRef = /^[^\s~^:?*[\\\p{Cc}#-][^\s~^:?*[\\\p{Cc}#]*$/u.test(pin) && !pin.includes("..") && !pin.endsWith("/");
  if (!isRef) throw misuse(`--pin ${JSON.stringify(pin)}: is no commit, tag or branch`, "--pin v1.2.0");
  return pin;
}

/** git takes an address with `#` for another one than a person means by it. */
function plainUrl(text: string): string {
  const [address, ref] = text.split("#");
  if (ref !== undefined)
    throw misuse(`${text}: an address has no #`, `reeve memory add ${address} --pin ${ref || "<ref>"}`);
  return text;
}

function parseShort(system: System, text: string, ref: string | undefined): NamedSource {
  const [, name = "", repo = "", memory] = short.exec(text) ?? [];
  if (!isRepository(name, repo)) {
    throw misuse(
      `${text}: is no source`,
      "name a repository (owner/name), an address (https://…) or a folder (./rules)",
    );
  }
  const host = hostOf(system);
  return {
    from: { type: "github", repo: `${name}/${repo}`, ref: ref ?? "HEAD", ...(host === undefined ? {} : { host }) },
    memory,
  };
}

function isRepository(name: string, repo: string): boolean {
  return owner.test(name) && !name.includes("--") && repository.test(repo) && repo !== "." && repo !== "..";
}

/** The enterprise host of `GH_HOST`; `undefined` for github.com itself. */
function hostOf({ env }: System): string | undefined {
  const host = (env["GH_HOST"] ?? "").trim().toLowerCase();
  if (host === "" || host === "github.com") return undefined;
  if (/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(host)) return host;
  throw misuse(
    `GH_HOST=${JSON.stringify(host)}: is no host name`,
    "unset GH_HOST, or set it to a name such as git.example.org",
  );
}

/** A literal github.com is github.com, whatever `GH_HOST` says. */
function parseUrl(system: System, text: string, ref: string | undefined): From {
  const address = plainUrl(text);
  const parsed = URL.canParse(address) ? new URL(address) : undefined;
  const host = parsed?.hostname.toLowerCase();
  if (parsed === undefined || (parsed.protocol !== "file:" && host === "")) {
    throw misuse(`${text}: is no address`, "https://host/owner/name, ssh://host/path or file:///path");
  }
  const isWeb = parsed.protocol === "https:" || parsed.protocol === "http:";
  const known = host === "github.com" || host === "www.github.com" ? undefined : hostOf(system);
  const isGitHub = isWeb && (known === undefined ? /^(?:www\.)?github\.com$/.test(host ?? "") : host === known);
  if (!isGitHub) return { type: "git", url: address, ref: ref ?? "HEAD" };
  const [name = "", repo = "", kind, ...rest] = decodePath(parsed.pathname, text).split("/").filter(Boolean);
  const plain = repo.replace(/\.git$/, "");
  if (!isRepository(name, plain)) throw misuse(`${text}: names no repository`, "https://github.com/owner/name");
  const tree = kind === undefined ? undefined : readTree(kind, rest, text);
  if (tree !== undefined && ref !== undefined && tree !== ref) {
    throw misuse(`${text}: names ${tree}, and --pin names ${ref}`, "leave one of them out");
  }
  return {
    type: "github",
    repo: `${name}/${plain}`,
    ref: ref ?? tree ?? "HEAD",
    ...(known === undefined ? {} : { host: known }),
  };
}

function decodePath(path: string, text: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw misuse(`${text}: has a % that begins no character`, "https://github.com/owner/name");
  }
}

/** A branch may have a slash in its name, so what follows a ref in an address cannot be told from it. */
function readTree(kind: string, rest: readonly string[], text: string): string {
  const [ref] = rest;
  if (kind === "tree" && ref !== undefined && rest.length === 1) return parsePin(ref) ?? "HEAD";
  throw misuse(
    `${text}: names more than a repository`,
    "--pin <ref> for a revision, --from <path> for a folder, --memory <name> for one memory",
  );
}
