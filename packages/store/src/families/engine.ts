import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import type { Program } from "../testing/child.ts";
import { main } from "./child.ts";
import type { Api } from "./subject.ts";

/** A change that breaks the library on purpose: what it replaces must stand in the file, once. */
export interface Breakage {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The library, loaded into this process and runnable in others. */
export interface Engine {
  readonly api: Api;
  /** Runs `main` of `child.ts` with its arguments. */
  readonly program: Program;
}

const source = `
  import * as api from "./index.ts";
  import { ${main.name} as main } from "./families/child.ts";
  export * from "./index.ts";
  if (require.main === module) main(api, process.argv.slice(2));
`;

/** Builds the library from its source, broken as asked for. Throws when a breakage finds nothing to break. */
export async function buildEngine(folder: string, breakages: readonly Breakage[] = []): Promise<Engine> {
  const file = join(folder, "engine.cjs");
  const met = new Set<Breakage>();
  await build({
    stdin: { contents: source, resolveDir: join(import.meta.dirname, ".."), loader: "ts" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    outfile: file,
    logLevel: "silent",
    plugins: [breaking(breakages, met)],
  });
  for (const breakage of breakages)
    if (!met.has(breakage)) throw new Error(`${breakage.file} is no part of the library`);
  return { api: createRequire(file)(file) as Api, program: { file, folder } };
}

type Plugin = NonNullable<BuildOptions["plugins"]>[number];

function breaking(breakages: readonly Breakage[], met: Set<Breakage>): Plugin {
  return {
    name: "breaking",
    setup(bundler) {
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        let contents = readFileSync(path, "utf8");
        for (const breakage of breakages.filter(({ file }) => file === basename(path))) {
          const { file, from, to } = breakage;
          const count = contents.split(from).length - 1;
          if (count !== 1) throw new Error(`${file} holds ${JSON.stringify(from)} ${count} times; mend the mutant`);
          contents = contents.replace(from, () => to);
          met.add(breakage);
        }
        return { contents, loader: "ts" };
      });
    },
  };
}
