import { describe, expect, test } from "vitest";
import { parseRepositoryConfig } from "./config.ts";

describe("parseRepositoryConfig", () => {
  test("parseRepositoryConfig reads the keys whatever the case, spacing and comments", () => {
    const text =
      '# top\n[CORE]\n\tBare\n\tworktree = "../a \\"b\\" #c"  ; note\n[extensions] RefStorage = RefTable # x\n';
    expect(parseRepositoryConfig(text)).toEqual({
      bare: true,
      worktree: '../a "b" #c',
      refStorage: "reftable",
      perWorktree: false,
    });
  });

  test("parseRepositoryConfig leaves out what stands in a subsection or another section", () => {
    const text = '[core "x"]\n\tbare = true\n[submodule]\n\tworktree = y\n[core]\n\tbare = false\n';
    expect(parseRepositoryConfig(text)).toEqual({
      bare: false,
      worktree: undefined,
      refStorage: undefined,
      perWorktree: false,
    });
  });

  test("parseRepositoryConfig lets the last value of a key and the later text win", () => {
    const shared = "[core]\n\tbare = true\n\tbare = false\n\tworktree = a\\\nb\n[extensions]\n\tworktreeConfig = on\n";
    expect(parseRepositoryConfig(shared, "[core]\n\tbare = 1\n")).toEqual({
      bare: true,
      worktree: "ab",
      refStorage: undefined,
      perWorktree: true,
    });
  });
});
