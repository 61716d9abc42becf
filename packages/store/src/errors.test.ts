import { describe, expect, test } from "vitest";
import { StoreError, type StoreErrorCode, toStoreError } from "./errors.ts";

describe("toStoreError", () => {
  test.each<[string, StoreErrorCode]>([
    ["ENOSPC", "NO_SPACE"],
    ["EDQUOT", "NO_SPACE"],
    ["EFBIG", "NO_SPACE"],
    ["EACCES", "NO_PERMISSION"],
    ["EPERM", "NO_PERMISSION"],
    ["EROFS", "READ_ONLY"],
    ["EISDIR", "REFUSED_PATH"],
    ["ELOOP", "REFUSED_PATH"],
    ["ENOTDIR", "REFUSED_PATH"],
    ["ENOENT", "NOT_FOUND"],
    ["EIO", "IO"],
    ["EMFILE", "IO"],
    ["EWHATEVER", "IO"],
  ])("says what %s means, where, and keeps what was thrown", (errno, code) => {
    const cause = Object.assign(new Error("words"), { code: errno });
    const error = toStoreError(cause, "/a/b", "write the file");
    expect(error).toMatchObject({ code, path: "/a/b", details: { errno }, cause });
    expect(error.message).toMatch(new RegExp(`^/a/b: cannot write the file: .*\\(${errno}\\)$`));
  });

  test("lets a StoreError through, and takes what is no error of the system", () => {
    const own = new StoreError("CONFLICT", "mine", { path: "/x", line: 3, hint: "do" });
    expect(toStoreError(own, "/a", "write")).toBe(own);
    expect(own).toMatchObject({ line: 3, hint: "do", details: {} });
    expect(toStoreError("words", "/a", "write").message).toBe("/a: cannot write: words");
    expect(toStoreError(new TypeError("odd"), "/a", "write")).toMatchObject({ code: "IO", details: {} });
  });
});
