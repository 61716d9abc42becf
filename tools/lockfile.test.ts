import { describe, expect, test } from "vitest";
import { judgeLockfiles, judgeManifests } from "./lockfile.ts";

describe("judgeLockfiles", () => {
  test("accepts links to workspaces and entries without an address", () => {
    const packages = {
      "node_modules/@reeve/core": { resolved: "packages/core", link: true },
      "node_modules/yaml": {},
    };
    expect(judgeLockfiles([{ path: "package-lock.json", packages }])).toEqual([]);
  });

  test("names an entry that records where it was downloaded from", () => {
    const packages = { "node_modules/yaml": { resolved: "https://registry.example/yaml.tgz" } };
    expect(judgeLockfiles([{ path: "bench/package-lock.json", packages }])).toEqual([
      "bench/package-lock.json: node_modules/yaml records a download address; set omit-lockfile-registry-resolved for npm",
    ]);
  });
});

describe("judgeManifests", () => {
  const reasons = "| package | version | why |\n| --- | --- | --- |\n| `yaml` | 2.9.1 | keeps comments |\n";
  const core = { path: "packages/core/package.json", name: "@reeve/core", dependencies: { yaml: "2.9.1" } };

  test("accepts exact versions that have a reason, and the repository's own packages without one", () => {
    const cli = { path: "packages/cli/package.json", name: "reeve", devDependencies: { "@reeve/core": "0.1.0" } };
    expect(judgeManifests([core, cli], reasons)).toEqual([]);
  });

  test.each(["^2.9.1", "~2.9.1", "2.9", "latest", "*", ">=2.9.1"])("names the inexact version %s", (version) => {
    const manifest = { ...core, dependencies: { yaml: "2.9.1" }, peerDependencies: { "@reeve/core": version } };
    expect(judgeManifests([manifest], reasons)).toEqual([
      `packages/core/package.json: @reeve/core ${version} is not one exact version`,
    ]);
  });

  test("names a dependency without a reason: absent, of another version, or an empty one", () => {
    const problem = "packages/core/package.json: yaml 2.9.1 has no line of reason in docs/decisions/dependencies.md";
    expect(judgeManifests([core], "")).toEqual([problem]);
    expect(judgeManifests([core], "| `yaml` | 2.9.1 |  |\n")).toEqual([problem]);
    expect(judgeManifests([core], "| `yaml` | 2.9.0 | keeps comments |\n")).toEqual([
      problem,
      "docs/decisions/dependencies.md: yaml 2.9.0 is in no package.json any more",
    ]);
  });

  test("names a reason for what no manifest has", () => {
    expect(judgeManifests([core], `${reasons}| \`ajv\` | 8.0.0 | validates |\n`)).toEqual([
      "docs/decisions/dependencies.md: ajv 8.0.0 is in no package.json any more",
    ]);
  });
});
