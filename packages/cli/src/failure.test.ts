import { type ErrorCode, errorTable, ReeveError } from "@reeve/core/findings/errors.ts";
import { exitCodes } from "@reeve/core/findings/exit.ts";
import { StoreError, type StoreErrorCode, storeErrorTable } from "@reeve/store";
import { describe, expect, test } from "vitest";
import { describeFailure } from "./failure.ts";

describe("describeFailure", () => {
  test.each(Object.keys(errorTable) as ErrorCode[])(
    "describeFailure tells of %s its exit code, and what to do",
    (code) => {
      const { value, text, stream } = describeFailure(new ReeveError(code, "what happened", { hint: "reeve status" }));
      const exit = exitCodes[errorTable[code].exit];
      expect(value).toEqual({ code, exit, message: "what happened", hint: "reeve status" });
      expect(text).toBe("reeve: what happened\n  next: reeve status\n");
      expect(stream).toBe(exit === exitCodes.USAGE || exit === exitCodes.INTERNAL_ERROR ? 2 : 1);
    },
  );

  test("describeFailure says no more than there is to say", () => {
    expect(describeFailure(new ReeveError("NO_TASK", "none")).text).toBe("reeve: none\n");
  });

  test.each<[StoreErrorCode, ErrorCode, number]>([
    ["LOCK_HELD", "LOCK_HELD", 14],
    ["NO_SPACE", "NO_SPACE", 13],
    ["NO_PERMISSION", "UNWRITABLE", 15],
    ["READ_ONLY", "UNWRITABLE", 15],
    ["REFUSED_PATH", "REFUSED", 15],
    ["CONFLICT", "CONFLICT", 15],
    ["NEWER", "STATE_NEWER", 15],
    ["DAMAGED", "RECORD_DAMAGED", 10],
    ["IO", "INTERNAL", 13],
    ["BAD_VALUE", "INTERNAL", 13],
  ])("describeFailure takes the store's %s for %s, exit %i", (code, known, exit) => {
    const { value, text } = describeFailure(new StoreError(code, "/x: what happened", { path: "/x" }));
    expect(value).toMatchObject({ code: known, exit, message: "/x: what happened" });
    expect(text).not.toMatch(/<path>|undefined|--force/);
  });

  test("describeFailure never lets an error of the store pass for success", () => {
    for (const code of Object.keys(storeErrorTable) as StoreErrorCode[])
      expect(describeFailure(new StoreError(code, "x", { path: "/x" })).value.exit, code).not.toBe(0);
  });

  test("describeFailure keeps the store's own hint", () => {
    expect(describeFailure(new StoreError("CONFLICT", "x", { path: "/x", hint: "look" })).value.hint).toBe("look");
  });

  test.each<[string, unknown]>([
    ["an error", new TypeError("odd")],
    ["a text", "odd"],
    ["nothing", undefined],
    ["null", null],
    ["an object", { odd: true }],
  ])("describeFailure takes %s that was thrown for an internal error", (_what, thrown) => {
    const { value, stream, text } = describeFailure(thrown);
    expect([value.code, value.exit, stream]).toEqual(["INTERNAL", 13, 2]);
    expect(text).toMatch(/^reeve: .+\n {2}next: .+\n$/);
  });
});
