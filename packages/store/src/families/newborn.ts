import { spawn } from "node:child_process";
import { join } from "node:path";
import { ended } from "../testing/child.ts";
import { neutralEnvironment } from "../testing/folder.ts";
import type { Engine } from "./engine.ts";
import { type Api, differing, findingsOf } from "./subject.ts";

interface Newborn {
  readonly store: ReturnType<Api["openStore"]>;
  readonly log: ReturnType<Api["openLog"]>;
  readonly document: ReturnType<Api["openDocument"]>;
}

/** A store, a log and a document of a number. */
export function openNewborn(api: Api, folder: string, n: number): Newborn {
  return {
    store: api.openStore({ path: join(folder, `${n}.jsonl`), key: "id", durability: "os" }),
    log: api.openLog({ path: join(folder, `${n}.log`), durability: "os" }),
    document: api.openDocument({ path: join(folder, `${n}.json`), steps: [], parse: (members) => members }),
  };
}

/** Has another process make files while this one opens them again and again: none is anything but absent or whole. */
export async function findUnborn({ api, program }: Engine, folder: string, count: number): Promise<readonly string[]> {
  const args = [program.file, "found", folder, String(count)];
  const child = spawn(process.execPath, args, { env: neutralEnvironment(program.folder), stdio: "ignore" });
  const findings: string[] = [];
  for (let n = 0; n < count && child.exitCode === null; ) {
    const found = await findingsOf(async () => {
      const { store, log, document } = openNewborn(api, folder, n);
      const early = [...log.read()].length;
      // Made last of the three: where it is, the others have their entry.
      const isThere = document.read().kind === "loaded";
      store.refresh();
      const counts = [store.size, [...log.read()].length];
      await store.close();
      if (!isThere) return [];
      n += 1;
      return [
        ...differing("how many entries there are", counts, [1, 1]),
        ...(early > 1 ? ["an entry is there twice"] : []),
      ];
    });
    findings.push(...found);
    // Lets the end of the child be seen.
    await new Promise(setImmediate);
  }
  const { exit } = await ended(child);
  return exit === 0 ? findings : [...findings, `the maker ended with ${exit}`];
}
