import type { Sources, Subject } from "../job.ts";
import { loadPeer } from "../packages.ts";

interface Options {
  readonly realpath: boolean;
  readonly stale?: number;
  readonly retries?: { retries: number; minTimeout: number; maxTimeout: number; factor: number };
}

interface ProperLockfile {
  lock(path: string, options: Options): Promise<() => Promise<void>>;
  lockSync(path: string, options: Options): () => void;
}

/** The shortest time it lets a dead holder keep a lock, in milliseconds. */
const stale = 2000;

/** Synchronous for the cycle, which is the quicker one of its two; it waits only in the asynchronous one. */
export async function loadProperLockfile(sources: Sources): Promise<Subject> {
  const { default: lockfile } = await loadPeer<{ default: ProperLockfile }>(sources, "proper-lockfile");
  const retries = { retries: 10_000, minTimeout: 2, maxTimeout: 100, factor: 2 };
  return {
    cycle: (path) => {
      lockfile.lockSync(path, { realpath: false })();
      return undefined;
    },
    hold: async (path, run) => {
      const release = await lockfile.lock(path, { realpath: false, stale, retries });
      await run();
      await release();
    },
  };
}
