import { describe, expect, test } from "vitest";
import { type Boundaries, judgeImports } from "./boundaries.ts";
import { parseModule } from "./source/module.ts";

const folders = new Map([
  ["@reeve/store", "store"],
  ["@reeve/core", "core"],
  ["@reeve/commands", "commands"],
  ["reeve", "cli"],
]);

const clean: Readonly<Record<string, string>> = {
  "packages/store/src/index.ts": "export const store = 1;",
  "packages/core/src/git/head.ts":
    'import { store } from "@reeve/store";\nimport type { P } from "../system/port.ts";\nexport const head: P = store;',
  "packages/core/src/system/port.ts": "export type P = number;",
  "packages/commands/src/command.ts": "export const defineCommand = (c: object): object => c;",
  "packages/commands/src/registry.ts": 'export const load = () => import("./work/start.ts");',
  "packages/commands/src/work/start.ts":
    'import { defineCommand } from "../command.ts";\nimport { head } from "@reeve/core/git/head.ts";\nimport type { S } from "@reeve/store";\nexport const start = defineCommand({ head });',
  "packages/cli/src/main.ts": 'import { load } from "@reeve/commands/registry.ts";\nload();',
};

const boundaries: Boundaries = {
  packages: { store: [], core: ["store"], commands: ["core", "store"], cli: ["commands"] },
  features: { git: ["system"], system: [] },
};

function judge(changes: Readonly<Record<string, string>>, rules: Boundaries = boundaries): string[] {
  const modules = Object.entries({ ...clean, ...changes }).map(([path, text]) => parseModule(path, text));
  return judgeImports({ modules, folders }, rules);
}

describe("judgeImports", () => {
  test("finds nothing in a clean tree", () => {
    expect(judge({})).toEqual([]);
  });

  test("names an import from a package that may not use the other, by type or by value", () => {
    const edge = "lets store use core: no such edge among the packages of tools/boundaries.json";
    const file = "packages/store/src/index.ts";
    expect(judge({ [file]: 'import { head } from "@reeve/core/git/head.ts";' })).toEqual([`${file}:1 ${edge}`]);
    expect(judge({ [file]: 'import type { head } from "@reeve/core/git/head.ts";' })).toEqual([`${file}:1 ${edge}`]);
  });

  test("names an import between feature folders that is not listed", () => {
    expect(judge({ "packages/core/src/system/port.ts": '\nexport type { head as P } from "../git/head.ts";' })).toEqual(
      [
        "packages/core/src/system/port.ts:2 lets system use git: no such edge among the features of tools/boundaries.json",
      ],
    );
  });

  test("names an edge that no import uses, of packages and of features", () => {
    const stale = judge(
      {},
      {
        packages: { ...boundaries.packages, cli: ["commands", "store"] },
        features: { git: ["system"], system: ["git"] },
      },
    );
    expect(stale).toEqual([
      "tools/boundaries.json: no import goes from package cli to store any more; remove the edge",
      "tools/boundaries.json: no import goes from feature system to git any more; remove the edge",
    ]);
  });

  test("names places the data file lacks and places only the data file has", () => {
    expect(judge({ "packages/core/src/policy/policy.ts": "export const a = 1;" })).toEqual([
      "tools/boundaries.json: the feature folder of core policy is not listed",
    ]);
    expect(judge({}, { ...boundaries, features: { ...boundaries.features, work: [] } })).toEqual([
      "tools/boundaries.json: there is no feature folder of core work any more",
    ]);
  });

  test("lets no file beside a command import a command, not even a type of it", () => {
    for (const importer of ["packages/commands/src/work/finish.ts", "packages/commands/src/layer/init.ts"]) {
      const specifier = importer.includes("/work/") ? "./start.ts" : "../work/start.ts";
      expect(judge({ [importer]: `import type { start } from "${specifier}";` })).toEqual([
        `${importer}:1 imports packages/commands/src/work/start.ts: a command is imported by no other`,
      ]);
    }
  });

  test("lets a command import a file of its folder that defines no command", () => {
    const changes = {
      "packages/commands/src/work/text.ts": "export const text = 1;",
      "packages/commands/src/work/finish.ts": 'import { text } from "./text.ts";\nexport { text };',
    };
    expect(judge(changes)).toEqual([]);
  });

  test("refuses relative paths into another package, imports of tests and of anything outside the packages", () => {
    const file = "packages/cli/src/extra.ts";
    expect(judge({ [file]: 'import { head } from "../../core/src/git/head.ts";' })).toEqual([
      `${file}:1 imports packages/core/src/git/head.ts by a relative path; use the package's name`,
    ]);
    expect(judge({ [file]: 'import "./main.test.ts";' })).toEqual([
      `${file}:1 imports packages/cli/src/main.test.ts: nothing imports a test or a fixture`,
    ]);
    expect(judge({ [file]: 'import "./fixture.ts";' })).toEqual([
      `${file}:1 imports packages/cli/src/fixture.ts: nothing imports a test or a fixture`,
    ]);
    expect(judge({ [file]: 'import "../../../tools/check.ts";' })).toEqual([
      `${file}:1 imports tools/check.ts: the packages import nothing outside packages/*/src`,
    ]);
  });
});
