import { describe, expect, test } from "vitest";
import { cacheDir, configDir, dataDir, type Environment, stateDir } from "./xdg.ts";

const kinds: readonly [string, (app: string, env: Environment) => string, string, string][] = [
  ["stateDir", stateDir, "XDG_STATE_HOME", ".local/state"],
  ["configDir", configDir, "XDG_CONFIG_HOME", ".config"],
  ["cacheDir", cacheDir, "XDG_CACHE_HOME", ".cache"],
  ["dataDir", dataDir, "XDG_DATA_HOME", ".local/share"],
];

describe.each(kinds)("%s", (_name, folderOf, variable, below) => {
  test("takes the variable when it is absolute", () => {
    expect(folderOf("app", { [variable]: "/x/y/", HOME: "/home/p" })).toBe("/x/y/app");
    expect(folderOf("app", { [variable]: "/x" })).toBe("/x/app");
  });

  test.each([
    ["unset", undefined],
    ["empty", ""],
    ["relative", "x/y"],
    ["with a tilde", "~/x"],
  ])("falls back to HOME when the variable is %s", (_case, value) => {
    expect(folderOf("app", { [variable]: value, HOME: "/home/p" })).toBe(`/home/p/${below}/app`);
  });

  test.each([undefined, "", "home/p"])("says so when HOME is %j", (home) => {
    const run = (): string => folderOf("app", { HOME: home });
    expect(run).toThrow(expect.objectContaining({ code: "NO_HOME" }));
  });

  test.each(["", ".", "..", "a/b", "a\\b", "a\0"])("refuses %j as a name", (app) => {
    const run = (): string => folderOf(app, { HOME: "/home/p" });
    expect(run).toThrow(expect.objectContaining({ code: "BAD_VALUE" }));
  });
});
