import type { RunWatchedOptions, WatchedResult } from "./port.ts";

const graceMs = 2_000;
const drainMs = 250;

export function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : process.getBuiltinModule("node:os").constants.signals[signal];
}

/** The last bytes of a stream of chunks, cut at no particular boundary. */
function keepTail(limit: number): { push(chunk: Buffer): void; text(): string } {
  let kept: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      kept.push(chunk);
      size += chunk.length;
      if (size > 2 * limit) {
        const joined = Buffer.concat(kept).subarray(-limit);
        kept = [joined];
        size = joined.length;
      }
    },
    text: () => Buffer.concat(kept).subarray(-limit).toString("utf8"),
  };
}

/**
 * Runs a shell command in a process group of its own. What it prints goes to standard error as it comes and its end is
 * kept. An interrupt of this process, or the time limit, ends the whole group: first asked, then killed.
 */
export function runWatched(command: string, options: RunWatchedOptions): Promise<WatchedResult> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const started = process.hrtime.bigint();
  const tail = keepTail(options.tailBytes);
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", command], {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Nobody may be reading along, and a full disk may be behind it: the command goes on all the same.
    const onGone = (): void => undefined;
    process.stderr.on("error", onGone);
    const show = (chunk: Buffer): void => void process.stderr.write(chunk);
    let ended: WatchedResult["ended"] = "exited";
    const endGroup = (signal: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // The group is already gone.
      }
    };
    const stop = (why: "timed-out" | "interrupted"): void => {
      ended = why;
      endGroup("SIGTERM");
      setTimeout(() => endGroup("SIGKILL"), graceMs).unref();
    };
    const onSignal = (): void => stop("interrupted");
    const limit = setTimeout(() => stop("timed-out"), options.timeLimitMs);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        tail.push(chunk);
        show(chunk);
      });
    }
    const release = (): void => {
      clearTimeout(limit);
      setImmediate(() => process.stderr.off("error", onGone));
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, onSignal);
    };
    child.on("error", (error) => {
      release();
      reject(error);
    });
    child.on("exit", (code, signal) => {
      release();
      if (ended !== "exited") endGroup("SIGKILL");
      const milliseconds = Number((process.hrtime.bigint() - started) / 1_000_000n);
      const finish = (): void => {
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ exit: code ?? 128 + signalNumber(signal), milliseconds, ended, tail: tail.text() });
      };
      // A process it left behind may hold the pipes open for ever.
      const lastWords = setTimeout(finish, drainMs);
      child.on("close", () => {
        clearTimeout(lastWords);
        finish();
      });
    });
  });
}
