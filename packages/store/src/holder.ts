import { readFileSync, readlinkSync } from "node:fs";
import { shortHash } from "./checksum.ts";
import { platform } from "./platform.ts";
import { isAlive } from "./temporaries.ts";

/**
 * Who holds a lock, as its text says: process id, the time that process started, and hashes of the host, its boot and its
 * pid namespace. A part the platform does not tell is zero.
 */
export interface Holder {
  readonly pid: number;
  readonly start: string;
  readonly host: string;
  readonly boot: string;
  readonly namespace: string;
}

/**
 * `gone`: provably no longer running. `elsewhere`: on another host, in another pid namespace or not comparable, so only
 * its heartbeat tells. `alive`: running, or this platform cannot tell.
 */
export type HolderState = "alive" | "gone" | "elsewhere";

/** A holder's text, at most 55 bytes: the file system keeps up to 59 in the link itself. */
export function renderHolder({ pid, start, host, boot, namespace }: Holder): string {
  return `${pid}@${start}@${host}${boot}${namespace}`;
}

/** Reads a holder's text; `undefined` when it is none. */
export function parseHolder(text: string): Holder | undefined {
  const form = /^([1-9]\d{0,9})@(\d{1,20})@([0-9a-f]{8})([0-9a-f]{8})([0-9a-f]{8})$/;
  const [, pid, start, host, boot, namespace] = form.exec(text) ?? [];
  if (pid === undefined || start === undefined || host === undefined) return undefined;
  if (boot === undefined || namespace === undefined) return undefined;
  return { pid: Number(pid), start, host, boot, namespace };
}

let own: Holder | undefined;

/** This process as a holder. */
export function ownHolder(): Holder {
  if (own?.pid === process.pid) return own;
  own = {
    pid: process.pid,
    start: statOf("self")?.start ?? unknownStart,
    host: hashOf(hostName()),
    boot: hashOf(textOf(`${platform.proc}/sys/kernel/random/boot_id`)),
    namespace: hashOf(linkOf(`${platform.proc}/self/ns/pid`)),
  };
  return own;
}

let rendered: { readonly holder: Holder; readonly text: string } | undefined;

/** {@link ownHolder} as text. */
export function ownText(): string {
  const holder = ownHolder();
  if (rendered?.holder !== holder) rendered = { holder, text: renderHolder(holder) };
  return rendered.text;
}

/** What is known of a holder whose lock was last touched at `touchedMs` (milliseconds since 1970). */
export function readHolderState(holder: Holder, touchedMs: number): HolderState {
  const me = ownHolder();
  if (isBeside(holder, me)) return isRunning(holder) ? "alive" : "gone";
  return isBeforeBoot(holder, me, touchedMs) ? "gone" : "elsewhere";
}

const unknown = "00000000";
const unknownStart = "0";

/** Can the holder's process id be looked up from here? */
function isBeside(holder: Holder, me: Holder): boolean {
  if (holder.boot !== me.boot || holder.namespace !== me.namespace) return false;
  if (me.boot !== unknown && me.namespace !== unknown) return true;
  return process.platform !== "linux" && me.host !== unknown && holder.host === me.host;
}

/** The same host has been started again since; a name two hosts share is caught by the time of the last touch. */
function isBeforeBoot(holder: Holder, me: Holder, touchedMs: number): boolean {
  if (me.host === unknown || holder.host !== me.host) return false;
  if (me.boot === unknown || holder.boot === unknown || holder.boot === me.boot) return false;
  const uptime = Number.parseFloat(textOf(`${platform.proc}/uptime`) ?? "");
  return Number.isFinite(uptime) && touchedMs < Date.now() - uptime * 1000;
}

function isRunning(holder: Holder): boolean {
  if (!isAlive(holder.pid)) return false;
  if (holder.start === unknownStart) return true;
  const stat = statOf(String(holder.pid));
  // A process that exists but hides its record (another user's, under a restricted /proc) counts as running.
  if (stat === undefined) return isAlive(holder.pid);
  return stat.start === holder.start && stat.state !== "Z" && stat.state !== "X";
}

/** The third and the twenty-second field of a process's record; its name, the second, may hold anything. */
function statOf(process: string): { state: string; start: string } | undefined {
  const text = textOf(`${platform.proc}/${process}/stat`);
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const state = fields?.[0];
  const start = fields?.[19];
  return state === undefined || start === undefined || !/^\d+$/.test(start) ? undefined : { state, start };
}

function hostName(): string | undefined {
  if (process.platform !== "linux") return process.getBuiltinModule("node:os").hostname();
  const machine = textOf("/etc/machine-id");
  return machine === undefined ? undefined : `${machine} ${textOf(`${platform.proc}/sys/kernel/hostname`) ?? ""}`;
}

function hashOf(text: string | undefined): string {
  return text === undefined ? unknown : shortHash(text);
}

function textOf(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
