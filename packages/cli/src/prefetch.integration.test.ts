import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPrefetch } from "./prefetch.ts";

let folder: string;
const mark = "a1b2c3d4";

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "reeve prefetch "));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

type Given = string | Uint8Array;

/** What is made of bytes that come in through a descriptor. */
function read(...pieces: readonly Given[]): { readonly status: string | undefined; readonly history: unknown } {
  const file = path.join(folder, "stream");
  fs.writeFileSync(file, Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))));
  const descriptor = fs.openSync(file, "r");
  try {
    const found = readPrefetch(`${descriptor}:${mark}`);
    const text = (bytes: Uint8Array | undefined): string | undefined =>
      bytes === undefined ? undefined : Buffer.from(bytes).toString("latin1");
    const { history } = found ?? {};
    return {
      status: text(found?.status),
      history: history === undefined ? undefined : { base: history.base, bytes: text(history.bytes) },
    };
  } finally {
    fs.closeSync(descriptor);
  }
}

const none = { status: undefined, history: undefined };
const base = "b".repeat(40);

function trailer(what: string, of = mark): string {
  return `\0reeve ${of} ${what}\0`;
}

describe("readPrefetch", () => {
  test("readPrefetch takes each output apart by the trailer after it", () => {
    const status = "# branch.oid x\0? läs mig\0";
    const bytes = Buffer.from(status, "latin1");
    expect(read(bytes, trailer("status 0"), "log\0", trailer(`history 0 ${base}`))).toEqual({
      status,
      history: { base, bytes: "log\0" },
    });
  });

  test("readPrefetch takes outputs in any order, one alone, and an empty one", () => {
    expect(read("log", trailer(`history 0 ${base}`), "st", trailer("status 0"))).toMatchObject({ status: "st" });
    expect(read("st", trailer("status 0"))).toEqual({ ...none, status: "st" });
    expect(read(trailer("status 0"))).toEqual({ ...none, status: "" });
  });

  test.each([
    ["nothing", []],
    ["an output without a trailer", ["st"]],
    ["an output cut off in its trailer", ["st", trailer("status 0").slice(0, -1)]],
    ["an output cut off in its mark", ["st", `\0reeve ${mark.slice(0, 4)}`]],
    ["a run that failed", ["st", trailer("status 128")]],
    ["a run whose end is not known", ["st", trailer("status")]],
    ["a run that nearly ended with 0", ["st", trailer("status 00")]],
    ["a history without the commit it begins at", ["log", trailer("history 0")]],
    ["another launcher's mark", ["st", trailer("status 0", "ffffffff")]],
    ["a run nobody asked for", ["st", trailer("fetch 0")]],
  ])("readPrefetch leaves out %s", (_what, pieces) => {
    expect(read(...pieces)).toEqual(none);
  });

  test("readPrefetch keeps what came whole before what was cut off", () => {
    expect(read("st", trailer("status 0"), "log", trailer(`history 0 ${base}`).slice(0, -3))).toEqual({
      ...none,
      status: "st",
    });
    expect(read("bad", trailer("status 1"), "log", trailer(`history 0 ${base}`))).toEqual({
      status: undefined,
      history: { base, bytes: "log" },
    });
  });

  test("readPrefetch is not misled by outputs that speak of another mark", () => {
    const hostile = trailer("status 0", "00000000");
    expect(read("one", hostile, "two", trailer("status 0"))).toEqual({ ...none, status: `one${hostile}two` });
  });

  test("readPrefetch gives back any output byte for byte", () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).filter((given) => !Buffer.from(given).includes(`\0reeve ${mark}`));
    fc.assert(
      fc.property(bytes, bytes, (status, history) => {
        const found = read(status, trailer("status 0"), history, trailer(`history 0 ${base}`));
        expect(found.status).toBe(Buffer.from(status).toString("latin1"));
        expect(found.history).toEqual({ base, bytes: Buffer.from(history).toString("latin1") });
      }),
      { numRuns: 200 },
    );
  });

  test("readPrefetch reads more than one buffer holds", () => {
    const long = "x".repeat(300_000);
    expect(read(long, trailer("status 0")).status).toBe(long);
  });

  test.each(["", "3", "3:", ":abc", "x:abc", "-1:abc", "3:a b", "3:abc:def", "99999:abc", "3;abc"])(
    "readPrefetch answers nothing to the description %j",
    (described) => {
      expect(readPrefetch(described)).toBeUndefined();
    },
  );
});
