import { join } from "node:path";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";

/** What an agent product reads in a repository, as its vendor documents it (reference field, section 1). */
interface Reader {
  readonly agent: string;
  /** Instruction files, in the order in which the first that exists is read, or all of them when `all`. */
  readonly files: readonly string[];
  readonly all?: true;
  /** Folders or files that show the product is configured here. */
  readonly marks: readonly string[];
  /** Bytes after which it stops reading. */
  readonly cap?: number;
}

const readers: readonly Reader[] = [
  { agent: "Claude Code", files: ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"], marks: [".claude", "CLAUDE.md"] },
  { agent: "Codex", files: ["AGENTS.override.md", "AGENTS.md"], marks: [".codex", "AGENTS.md"], cap: 32_768 },
  { agent: "Gemini CLI", files: ["GEMINI.md"], marks: [".gemini", "GEMINI.md"] },
  {
    agent: "Cursor",
    files: ["AGENTS.md", ".cursor/rules", ".cursorrules"],
    all: true,
    marks: [".cursor", ".cursorrules"],
  },
  {
    agent: "GitHub Copilot",
    files: [".github/copilot-instructions.md", ".github/instructions", "AGENTS.md"],
    all: true,
    marks: [".github/copilot-instructions.md", ".github/instructions"],
  },
  {
    agent: "Windsurf",
    files: ["AGENTS.md", ".devin/rules", ".windsurf/rules", ".windsurfrules"],
    all: true,
    marks: [".windsurf", ".devin", ".windsurfrules"],
  },
  { agent: "opencode", files: ["AGENTS.md"], marks: ["opencode.json", "opencode.jsonc", ".opencode"] },
  { agent: "Cline", files: [".clinerules"], all: true, marks: [".clinerules"] },
  { agent: "Kiro", files: [".kiro/steering"], all: true, marks: [".kiro"] },
  { agent: "Qwen Code", files: ["QWEN.md"], marks: [".qwen", "QWEN.md"] },
  { agent: "Junie", files: [".junie/AGENTS.md", ".junie/guidelines.md", "AGENTS.md"], marks: [".junie"] },
  { agent: "Factory", files: ["AGENTS.md"], marks: [".factory"] },
];

export interface Instructions {
  readonly agent: string;
  /** Instruction files it reads here, with their bytes. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Bytes it never sees, over its cap. */
  readonly cut: number;
}

function filesBelow(system: System, top: AbsPath, name: string): readonly { path: string; bytes: number }[] {
  const where = join(top, name) as AbsPath;
  const real = system.realPath(where);
  const info = real === undefined ? undefined : system.info(real);
  if (info?.kind === "file") return [{ path: name, bytes: info.size }];
  if (info?.kind !== "directory") return [];
  return (system.list(where) ?? [])
    .filter((entry) => entry.kind === "directory" || /\.(?:md|mdc)$/.test(entry.name))
    .flatMap((entry) => filesBelow(system, top, `${name}/${entry.name}`));
}

/** Which agents are configured in a working tree, and which of its instruction files each reads. */
export function readInstructions(system: System, top: AbsPath): readonly Instructions[] {
  return readers.flatMap((reader) => {
    if (!reader.marks.some((mark) => system.info(join(top, mark) as AbsPath) !== undefined)) return [];
    const found = reader.files.map((name) => filesBelow(system, top, name));
    const files = reader.all === true ? found.flat() : (found.find((list) => list.length > 0) ?? []);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return [{ agent: reader.agent, files, cut: reader.cap === undefined ? 0 : Math.max(0, bytes - reader.cap) }];
  });
}
