import { describe, expect, test } from "vitest";
import { checkOneLine } from "./one-line.ts";

describe("checkOneLine", () => {
  test("checkOneLine takes the space around a text off", () => {
    expect(checkOneLine("<task>", "  fix the — läs mig 🙂 \n")).toBe("fix the — läs mig 🙂");
  });

  test.each([
    "",
    "  ",
    "\n",
    "a\nb",
    "a\rb",
    "a\u2028b",
    "a\u2029b",
    "a\u0000b",
    "a\u001b[2J",
    "a\tb",
    "a\u007f",
    "a\u0085b",
  ])("checkOneLine refuses a text, %#, and names what it is of", (text) => {
    expect(() => checkOneLine("<task>", text)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(/^<task> /) }),
    );
  });
});
