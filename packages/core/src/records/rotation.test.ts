import { type Change, isDerivedSpelling } from "@reeve/store";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Layer } from "../layer/layer.ts";
import { table } from "../state/table.ts";
import { parseLedger } from "./ledger.ts";
import { planLedgerRotation, type Rotation } from "./rotation.ts";

const head = { branch: "main", head: "b".repeat(40) };
const now = new Date("2026-09-03T19:30:12Z");

function layerOf(ledger: Uint8Array | undefined, names: readonly string[] = []): Layer {
  const system = { now: () => now };
  const [home, repository] = [{ path: "/home" }, { top: "/top" }];
  const layer = { system, home, repository, version: "1.0.0", readBytes: () => ledger, list: () => names };
  return layer as unknown as Layer;
}

function ledgerOf(lines: number): Buffer {
  const line = (n: number): string => `{"event":"question.opened","question":"q${n}","ts":"2026-09-03T19:30:12Z"}\n`;
  return Buffer.from(Array.from({ length: lines }, (_, index) => line(index + 1)).join(""));
}

function bytesOf(change: Change | undefined): Buffer {
  if (change?.kind !== "write") throw new Error("a rotation writes");
  return Buffer.from(change.bytes);
}

interface Parts {
  readonly rotation: Rotation;
  readonly archive: Buffer;
  readonly rest: Buffer;
}

function rotate(ledger: Uint8Array, cap: number, keep: number): Parts | undefined {
  const rotation = planLedgerRotation({ layer: layerOf(ledger), head, cap, keep });
  if (rotation === undefined) return undefined;
  const [archive, rest] = rotation.plan.changes.map(bytesOf);
  if (archive === undefined || rest === undefined) throw new Error("a rotation writes two files");
  return { rotation, archive, rest };
}

describe("planLedgerRotation", () => {
  test("planLedgerRotation leaves a ledger that is absent, empty, or within its cap", () => {
    expect(planLedgerRotation({ layer: layerOf(undefined), head, cap: 1, keep: 1 })).toBeUndefined();
    expect(rotate(Buffer.alloc(0), 1, 1)).toBeUndefined();
    expect(rotate(ledgerOf(5), 5, 4)).toBeUndefined();
    expect(rotate(ledgerOf(6), 5, 4)).toBeDefined();
  });

  test.each([
    [6, 5, 5, 4],
    [6, 5, 4, 3],
    [6, 5, 1, 0],
    [100, 1, 1, 0],
    [3, 2, 2, 1],
  ])("planLedgerRotation keeps of %i lines under a cap of %i, to keep %i, the last %i", (lines, cap, keep, kept) => {
    const parts = rotate(ledgerOf(lines), cap, keep);
    expect(parts?.rotation).toMatchObject({ archived: lines - kept, kept });
    const back = parseLedger(parts?.rest ?? Buffer.alloc(0));
    expect(back.problems).toEqual([]);
    expect(back.count).toBe(keep);
    expect(back.lines.at(-1)?.value).toMatchObject({
      event: "ledger.rotated",
      archived: lines - kept,
      kept,
      archive: parts?.rotation.archive,
    });
  });

  test("planLedgerRotation moves the lines byte for byte, whatever they hold", () => {
    const row = fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.constant(Uint8Array.of(0xff, 0xfe, 0x80, 0)));
    const rows = fc.array(
      row.map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
      { minLength: 3, maxLength: 12 },
    );
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 3 }), fc.boolean(), (given, keep, ended) => {
        const whole = Buffer.concat(given.flatMap((bytes) => [bytes, Buffer.from("\n")]));
        const ledger = ended ? whole : whole.subarray(0, -1);
        const parts = rotate(ledger, 2, keep);
        if (parts === undefined) return;
        const { archive, rest, rotation } = parts;
        const added = rest.subarray(rest.lastIndexOf(10, rest.length - 2) + 1);
        expect(JSON.parse(added.toString("utf8"))).toMatchObject({ event: "ledger.rotated" });
        const together = Buffer.concat([archive, rest.subarray(0, rest.length - added.length)]);
        const guard = ledger.at(-1) === 10 || ledger.length === archive.length ? "" : "\n";
        expect(together.equals(Buffer.concat([ledger, Buffer.from(guard)]))).toBe(true);
        expect(archive.filter((byte) => byte === 10).length).toBe(rotation.archived - (archive.at(-1) === 10 ? 0 : 1));
      }),
      { numRuns: 300 },
    );
  });

  test("planLedgerRotation begins the kept part with a whole line when all lines go", () => {
    const parts = rotate(ledgerOf(3).subarray(0, -1), 2, 1);
    expect(parts?.archive.equals(ledgerOf(3).subarray(0, -1))).toBe(true);
    expect(parseLedger(parts?.rest ?? Buffer.alloc(0)).problems).toEqual([]);
  });

  test("planLedgerRotation changes nothing that moved on since it was planned", () => {
    const ledger = ledgerOf(3);
    const plan = planLedgerRotation({ layer: layerOf(ledger), head, cap: 2, keep: 2 })?.plan;
    expect(plan?.changes).toEqual([
      expect.objectContaining({ kind: "write", root: "/home", expect: "absent", mode: 0o600 }),
      expect.objectContaining({ path: "state/ledger.jsonl", expect: { bytes: ledger }, mode: 0o600 }),
    ]);
  });

  test("planLedgerRotation takes a free name that the state table declares", () => {
    const taken = ["ledger.20260903T193012Z.jsonl.archived", "ledger.20260903T193012Z-2.jsonl.archived"];
    const names = [0, 1, 2].map((count) => {
      const layer = layerOf(ledgerOf(3), taken.slice(0, count));
      return planLedgerRotation({ layer, head, cap: 2, keep: 2 })?.archive ?? "";
    });
    expect(new Set(names).size).toBe(3);
    expect(names[0]).toBe(".ai/local/state/ledger.20260903T193012Z.jsonl.archived");
    for (const name of names) {
      expect(table.entryFor(name)?.path, name).toBe(".ai/local/state/ledger.*");
      expect(isDerivedSpelling(name)).toBe(false);
    }
  });
});
