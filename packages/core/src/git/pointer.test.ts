import { describe, expect, test } from "vitest";
import { parsePointer } from "./pointer.ts";

describe("parsePointer", () => {
  test("parsePointer takes the label and the line ends away and nothing else", () => {
    expect(parsePointer("gitdir: ../a b \r\n\n", "gitdir: ")).toBe("../a b ");
    expect(parsePointer("../..\n")).toBe("../..");
  });

  test("parsePointer answers nothing where no path is named", () => {
    expect(parsePointer(undefined)).toBeUndefined();
    expect(parsePointer("\n\n")).toBeUndefined();
    expect(parsePointer("gitdir: \n", "gitdir: ")).toBeUndefined();
    expect(parsePointer("something else", "gitdir: ")).toBeUndefined();
  });
});
