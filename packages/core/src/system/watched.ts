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

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Ends a process group when this process is interrupted or the time is up: first asked, then killed. */
interface Guard {
  group: number | undefined;
  readonly ended: WatchedResult["ended"];
  endGroup(signal: NodeJS.Signals): void;
  release(): void;
}

function guardGroup(timeLimitMs: number): Guard {
  let ended: WatchedResult["ended"] = "exited";
  const stop = (why: "timed-out" | "interrupted"): void => {
    ended = why;
    guard.endGroup("SIGTERM");
    setTimeout(() => guard.endGroup("SIGKILL"), graceMs).unref();
  };
  const onSignal = (): void => stop("interrupted");
  const limit = setTimeout(() => stop("timed-out"), timeLimitMs);
  for (const signal of signals) process.on(signal, onSignal);
  const guard: Guard = {
    group: undefined,
    get ended() {
      return ended;
    },
    endGroup(signal) {
      try {
        if (guard.group !== undefined) process.kill(-guard.group, signal);
      } catch {
        // The group is already gone.
      }
    },
    release() {
      clearTimeout(limit);
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
  return guard;
}

/** Copies to standard error. Nobody may be reading along, and a full disk may be behind it: that is no reason to stop. */
function openShow(): { show(chunk: Buffer): void; close(): void } {
  const onGone = (): void => undefined;
  process.stderr.on("error", onGone);
  return {
    show: (chunk) => void process.stderr.write(chunk),
    close: () => void setImmediate(() => process.stderr.off("error", onGone)),
  };
}

/**
 * Runs a shell command in a process group of its own. What it prints goes to standard error as it comes and its end is
 * kept. An interrupt of this process, or the time limit, ends the whole group.
 */
export function runWatched(command: string, options: RunWatchedOptions): Promise<WatchedResult> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const started = process.hrtime.bigint();
  const tail = keepTail(options.tailBytes);
  const output = openShow();
  // The guard stands before there is anything to guard: an interrupt in between must not be missed.
  const guard = guardGroup(options.timeLimitMs);
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", command], {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    guard.group = child.pid;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        tail.push(chunk);
        output.show(chunk);
      });
    }
    child.on("error", (error) => {
      guard.release();
      output.close();
      reject(error);
    });
    child.on("exit", (code, signal) => {
      guard.release();
      if (guard.ended !== "exited") guard.endGroup("SIGKILL");
      const milliseconds = Number((process.hrtime.bigint() - started) / 1_000_000n);
      const finish = (): void => {
        child.stdout.destroy();
        child.stderr.destroy();
        output.close();
        resolve({ exit: code ?? 128 + signalNumber(signal), milliseconds, ended: guard.ended, tail: tail.text() });
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
