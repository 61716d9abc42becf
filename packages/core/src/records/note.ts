import { parseFlat, renderFlat, splitFrontMatter } from "../documents/front-matter.ts";
import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";

export type NoteKind = "handover" | "checkpoint";

export const noteFolders: Readonly<Record<NoteKind, string>> = {
  handover: statePath(".ai/local/state/handovers/"),
  checkpoint: statePath(".ai/local/state/checkpoints/"),
};

/** Front matter of a handover or checkpoint (reference 1.9); every member is computed when it is written. */
export interface NoteFrontMatter {
  readonly schema_version: 1;
  readonly created_at: string;
  readonly task_id: string;
  readonly profile: string;
  readonly owner: string;
  readonly repository_id: string;
  readonly worktree: string;
  readonly branch: string;
  readonly head: string;
  readonly working_tree: "clean" | "dirty";
  readonly changed_files: readonly string[];
  readonly changed_files_excluded: number;
}

export interface Note {
  readonly path: string;
  readonly front: NoteFrontMatter;
  readonly body: string;
}

const texts = ["created_at", "task_id", "profile", "owner", "repository_id", "worktree", "branch", "head"] as const;
const identity: readonly string[] = [
  "schema_version",
  ...texts,
  "working_tree",
  "changed_files",
  "changed_files_excluded",
];

/** The file name of a new record: `<compact time>--<branch key>--<short head>--<16 hex>.md`. */
export function renderNoteName(front: NoteFrontMatter, random: string): string {
  const branch = front.branch.replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${front.created_at.replaceAll(/[-:]/g, "")}--${branch}--${front.head.slice(0, 7)}--${random}.md`;
}

export function renderNote(front: NoteFrontMatter, body: string): string {
  return `---\n${renderFlat({ ...front })}---\n\n${body.trim()}\n`;
}

function badMember(members: Readonly<Record<string, unknown>>): string | undefined {
  const files = members["changed_files"];
  if (members["schema_version"] !== 1) return "'schema_version' is not 1";
  if (!Array.isArray(files)) return "'changed_files' is no list";
  return texts.map((key) => (typeof members[key] === "string" ? undefined : `'${key}' is missing`)).find(Boolean);
}

/** Reads one record; the answer is what is wrong with it when it does not parse. */
async function readNote(
  layer: Layer,
  path: string,
): Promise<Note | { readonly path: string; readonly problem: string }> {
  const text = layer.read(path);
  if (text === undefined) return { path, problem: "is missing" };
  const { yaml, body } = splitFrontMatter(text);
  if (yaml === undefined) return { path, problem: "has no front matter" };
  let members = parseFlat(yaml);
  if (members === undefined) {
    const decoded = await layer.documents.decode("plain", path, yaml);
    if (!decoded.ok)
      return { path, problem: `line ${(decoded.problems[0]?.line ?? 0) + 1}: ${decoded.problems[0]?.message}` };
    members = decoded.value;
  }
  const problem = badMember(members);
  return problem === undefined ? { path, front: members as unknown as NoteFrontMatter, body } : { path, problem };
}

export async function readNotes(
  layer: Layer,
  kind: NoteKind,
): Promise<readonly (Note | { readonly path: string; readonly problem: string })[]> {
  const folder = noteFolders[kind];
  const names = layer.list(folder).filter((name) => name.endsWith(".md") && !name.startsWith("."));
  return Promise.all(names.map((name) => readNote(layer, `${folder}${name}`)));
}

export function isNote(read: Note | { readonly problem: string }): read is Note {
  return "front" in read;
}

/** Level-one headings and what stands below each; a heading inside a code fence is text. */
export function parseSections(body: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let name: string | undefined;
  let fence: string | undefined;
  for (const row of body.replaceAll("\r\n", "\n").split("\n")) {
    const mark = /^(?:```+|~~~+)/.exec(row)?.[0];
    if (mark !== undefined) fence = fence === undefined ? mark : row.startsWith(fence) ? undefined : fence;
    const heading = fence === undefined ? /^# (.+?)\s*$/.exec(row) : null;
    if (heading?.[1] !== undefined) {
      name = heading[1];
      sections.set(name, sections.get(name) ?? "");
    } else if (name !== undefined) sections.set(name, `${sections.get(name) ?? ""}${row}\n`);
  }
  return sections;
}

/** The required sections a body lacks or leaves empty; a template's `<placeholder>` is empty. */
export function missingSections(body: string, required: readonly string[]): readonly string[] {
  const sections = parseSections(body);
  return required.filter((name) => (sections.get(name) ?? "").replaceAll(/<[^<>\n]*>/g, "").trim() === "");
}

/** Refuses a body that tries to say who, where or when: those are computed. */
export function checkNoteBody(kind: NoteKind, body: string): void {
  const rows = body.replaceAll("\r\n", "\n").split("\n");
  const at = rows.findIndex((row) => identity.some((key) => row.startsWith(`${key}:`)));
  if (at < 0) return;
  throw new ReeveError(
    "RECORD_REFUSED",
    `${kind}: line ${at + 1} sets '${rows[at]?.split(":")[0]}', which is computed from git`,
    {
      hint: "leave the line out, or begin it with another word",
    },
  );
}
