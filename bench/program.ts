import { cpSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Place } from "./repository.ts";

/**
 * A place of its own: a copy of the built program, so that a build meanwhile changes nothing, and an environment in which
 * only what is measured differs. `NODE_EXTRA_CA_CERTS` is not set, for the floors as for Reeve.
 */
export function makePlace(folder: string, built: string): Place {
  const program = join(folder, "program");
  for (const part of ["bin", "dist", "package.json"])
    cpSync(join(built, part), join(program, part), { recursive: true });
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  const who = { NAME: "Bench", EMAIL: "bench@example.org" };
  const people = ["AUTHOR", "COMMITTER"].flatMap((role) =>
    Object.entries(who).map(([what, value]) => [`GIT_${role}_${what}`, value] as const),
  );
  return {
    folder,
    reeve: join(program, "bin/reeve.cjs"),
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: home,
      USER: "bench",
      LANG: "C.UTF-8",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      ...Object.fromEntries(people),
    },
  };
}
