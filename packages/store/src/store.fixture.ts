import { readFileSync, statSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { openStore } from "./store.ts";
import type { Store, StoreOptions } from "./store-interface.ts";

/** What most stores of the tests hold. */
export interface Job {
  readonly id: string;
  readonly n?: number;
}

/** Nothing but an `id` and, perhaps, a number `n`. */
export function parseJob(value: unknown): Job {
  const { id, n, ...unknown } = value as Readonly<Record<string, unknown>>;
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new Error(`unknown member ${JSON.stringify(name)}`);
  if (typeof id !== "string") throw new Error("no id");
  if (n === undefined) return { id };
  if (typeof n !== "number") throw new Error("n is not a number");
  return { id, n };
}

/** A store of whatever lies at the path, with the key member `id` unless told otherwise; closed when the test is over. */
export function openTestStore<T = Readonly<Record<string, unknown>>>(
  path: string,
  options: Partial<StoreOptions<T>> = {},
): Store<T> {
  const store = openStore<T>({ path, key: "id", ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Everything a store answers, with the lines and reasons of its problems. */
export function answersOf<T>(store: Store<T>): {
  size: number;
  entries: [key: string, value: T][];
  problems: [line: number, reason: string][];
} {
  const entries = [...store.entries()];
  expect([...store.keys()]).toEqual(entries.map(([key]) => key));
  for (const [key] of entries) expect(store.has(key)).toBe(true);
  return { size: store.size, entries, problems: store.problems.map(({ line, reason }) => [line, reason]) };
}

export function textOf(path: string): string {
  return readFileSync(path, "utf8");
}

/** How many lines a file has, as `wc -l` counts them. */
export function lineCountOf(path: string): number {
  return textOf(path).split("\n").length - 1;
}

export function inodeOf(path: string): number {
  return statSync(path).ino;
}

/** An object that `toThrow` and `rejects.toMatchObject` compare with. */
export function storeError(
  code: string,
  members: Readonly<Record<string, unknown>> = {},
): ReturnType<typeof expect.objectContaining> {
  return expect.objectContaining({ name: "StoreError", code, ...members });
}

/** Waits, promise by promise and without leaving the thread, until it is so. */
export async function untilInThread(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (isSo()) return;
    await undefined;
  }
  throw new Error("it never came to be so");
}
