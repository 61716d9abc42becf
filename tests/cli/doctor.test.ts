import * as fs from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, foundIn, ofLevel, onlyFailure, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const policy = ".ai/repo/policy.yaml";
const profile = ".ai/repo/profiles/implementation.yaml";
const own = ["ai-layout-integrity", "policy-integrity", "policy-completeness", "retention-caps", "enforcement-wiring"];
const records = ["ledger-integrity", "decision-records", "questions-store-integrity", "handover-integrity"];

let scene: Scene;
beforeAll(() => {
  scene = makeScene({ layer: "hooks" });
});

/** Runs with one file replaced, and puts it back. */
function withFile<T>(file: string, text: string | Uint8Array | undefined, run: () => T): T {
  const before = fs.readFileSync(scene.at(file));
  if (text === undefined) fs.rmSync(scene.at(file));
  else fs.writeFileSync(scene.at(file), text);
  try {
    return run();
  } finally {
    fs.writeFileSync(scene.at(file), before);
  }
}

function lineOf(text: string, part: string): number {
  return text.split("\n").findIndex((row) => row.includes(part)) + 1;
}

describe("reeve doctor", () => {
  test("is one line when the layer is sound, and reads only", () => {
    const before = scene.sh("find .ai/ .ai/local/ -type f ! -path '*/cache/*' | sort | xargs sha256sum").stdout;
    const said = scene.reeve(["doctor"]);
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    expect(rowsOf(said.stdout)).toHaveLength(1);
    expect(scene.sh("find .ai/ .ai/local/ -type f ! -path '*/cache/*' | sort | xargs sha256sum").stdout).toBe(before);
    expect(scene.reeve(["doctor", "--verbose"]).stdout).toMatch(/^INFO env node /m);
  });

  test.each([...own, ...records])("evaluates %s, alone when asked", (id) => {
    const lines = foundIn(scene.reeve(["doctor", "--rule", id, "--json"]));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.every((finding) => finding.level === "OK")).toBe(true);
  });

  test("warns of files nobody declared, of links and of secrets others may read, and lets the commit be", () => {
    const secret = scene.at(".ai/local/secrets/token");
    fs.mkdirSync(scene.at(".ai/local/secrets"));
    fs.writeFileSync(secret, "x");
    fs.chmodSync(secret, 0o644);
    fs.writeFileSync(scene.at(".ai/stray"), "x");
    fs.symlinkSync("local/secrets/token", scene.at(".ai/link"));
    try {
      const said = scene.reeve(["doctor", "--json"]);
      expect(said.exit).toBe(0);
      const warned = foundIn(said).filter(({ category, level }) => category === "state" && level === "WARN");
      expect(warned.map(({ subject, message }) => [subject, message])).toEqual([
        [".ai/link", expect.stringContaining("symbolic link to local/secrets/token")],
        [".ai/local/secrets/token", expect.stringContaining("no entry declares it")],
        [".ai/local/secrets/token", expect.stringContaining("may be read by others (mode 644)")],
        [".ai/stray", expect.stringContaining("no entry declares it")],
      ]);
      expect(warned.every(({ next }) => next !== undefined)).toBe(true);
    } finally {
      for (const name of [".ai/local/secrets", ".ai/stray", ".ai/link"]) fs.rmSync(scene.at(name), { recursive: true });
    }
    expect(ofLevel(scene.reeve(["doctor", "--json", "--verbose"]), "OK")).toContainEqual(
      expect.objectContaining({ category: "state", subject: ".ai" }),
    );
  });

  test("fails over a damaged table of contributed entries, naming its line", () => {
    fs.writeFileSync(scene.at(".ai/repo/state.jsonl"), '{"path":1}\n');
    try {
      const said = scene.reeve(["doctor", "--json"]);
      expect(said.exit).toBe(10);
      expect(onlyFailure(said)).toMatchObject({ category: "state", subject: ".ai/repo/state.jsonl" });
      expect(onlyFailure(said).message).toContain("state.jsonl:1");
    } finally {
      fs.rmSync(scene.at(".ai/repo/state.jsonl"));
    }
  });

  test("knows a mistyped rule", () => {
    const failure = failureOf(scene.reeve(["doctor", "--rule", "policy-integrty", "--json"]));
    expect(`${failure.message} ${failure.hint}`).toContain("policy-integrity");
    expect([2, 12]).toContain(failure.exit);
  });

  test("wants a layer", () => {
    expect(failureOf(makeScene().reeve(["doctor", "--json"]))).toMatchObject({ code: "NO_LAYER", exit: 12 });
  });
});

describe("a policy that is not sound", () => {
  const cases: readonly (readonly [name: string, change: (text: string) => string, says: RegExp, next?: RegExp])[] = [
    ["a tab", (text) => text.replace("  default: implementation", "\tdefault: implementation"), /tab/i],
    [
      "a key twice",
      (text) => text.replace("  rotate: auto", "  rotate: auto\n  rotate: off"),
      /unique|twice|duplicate/i,
    ],
    [
      "an unknown key",
      (text) => text.replace("rotate: auto", "rotat: auto"),
      /unknown key 'ledger\.rotat'/,
      /did you mean 'rotate'/,
    ],
    [
      "an unknown block",
      (text) => text.replace(/^checkpoint:/m, "checkpiont:"),
      /unknown key 'checkpiont'/,
      /'checkpoint'/,
    ],
    ["a wrong type", (text) => text.replace("max_body_lines: 40", "max_body_lines: many"), /max_body_lines/],
    ["another version", (text) => text.replace("version: 1", "version: 2"), /version/],
    ["a value no choice", (text) => text.replace("rotate: auto", "rotate: daily"), /rotate.*auto/],
    ["a torn list", (text) => text.replace("[doctor]", "[doctor"), /./],
  ];

  test.each(cases.map(([name, change, says, next]) => ({ name, change, says, next })))(
    "with $name is named by its line, stops doctor with 10 and start with 10",
    ({ change, says, next }) => {
      const text = scene.read(policy);
      const broken = change(text);
      expect(broken).not.toBe(text);
      const at = broken.split("\n").findIndex((row, index) => row !== text.split("\n")[index]) + 1;
      withFile(policy, broken, () => {
        const said = scene.reeve(["doctor", "--json"]);
        expect(said.exit).toBe(10);
        const found = ofLevel(said, "FAIL").filter((finding) => finding.category === "policy");
        const [, line] = /policy\.yaml:(\d+)$/.exec(found[0]?.subject ?? "") ?? [];
        expect(Math.abs(Number(line) - at), `${found[0]?.subject} for line ${at}`).toBeLessThanOrEqual(1);
        expect(found[0]?.message).toMatch(says);
        if (next !== undefined) expect(found[0]?.next).toMatch(next);
        const failure = failureOf(scene.reeve(["start", "x", "--scope", "src", "--json"]));
        expect(failure).toMatchObject({ code: "POLICY_INVALID", exit: 10 });
        expect(failure.message).toContain(`${policy}:${line}`);
        expect(scene.exists(".ai/local/state/current.yaml")).toBe(false);
      });
      expect(scene.reeve(["doctor"]).exit).toBe(0);
    },
  );

  test.each([
    ["profiles.default", "  default: implementation\n"],
    ["verification.time_limit", "  time_limit: 30m\n"],
    ["ledger.retention_max_lines", "  retention_max_lines: 5000\n"],
    ["handover.derive_on_finish", "  derive_on_finish: true\n"],
  ])("that lacks %s is incomplete and names the key", (key, row) => {
    const text = scene.read(policy);
    expect(text).toContain(row);
    withFile(policy, text.replace(row, ""), () => {
      expect(onlyFailure(scene.reeve(["doctor", "--rule", "policy-completeness", "--json"])).message).toContain(
        `'${key}'`,
      );
      expect(scene.reeve(["doctor"]).exit).toBe(10);
    });
  });

  test.each([
    ["missing", undefined],
    ["empty", ""],
    ["no text", Buffer.from([0xff, 0x00, 0xfe])],
  ])("that is %s fails", (_, bytes) => {
    withFile(policy, bytes, () => {
      expect(scene.reeve(["doctor"]).exit).toBe(10);
      expect([10, 12]).toContain(scene.reeve(["start", "x", "--scope", "src"]).exit);
    });
  });

  test("that no longer names the profile that is there fails", () => {
    withFile(policy, scene.read(policy).replace("default: implementation", "default: implementaton"), () => {
      const found = onlyFailure(scene.reeve(["doctor", "--rule", "policy-integrity", "--json"]));
      expect(found.message).toContain("implementaton");
      expect(found.next).toContain("implementation");
    });
  });
});

describe("a profile, a manifest or a rule that is not sound", () => {
  test.each([
    ["an unknown key", (text: string) => text.replace("effort:", "efort:"), "efort"],
    ["another name inside", (text: string) => text.replace("name: implementation", "name: other"), "other"],
    ["no interval", (text: string) => text.replace(/^checkpoint_interval: .*\n/m, ""), "checkpoint_interval"],
  ])("a profile with %s", (_, change, says) => {
    const broken = change(scene.read(profile));
    withFile(profile, broken, () => {
      const found = ofLevel(scene.reeve(["doctor", "--json"]), "FAIL");
      expect(found[0]?.subject).toContain(profile);
      expect(found.map((finding) => finding.message).join()).toContain(says);
    });
  });

  test("a manifest with an unknown key or a section that is not there", () => {
    const manifest = scene.read(".ai/manifest.yaml");
    const cases = [manifest.replace("repo/adrs", "repo/not-there"), `${manifest}\nsurprise: 1\n`];
    for (const text of cases) {
      withFile(".ai/manifest.yaml", text, () => {
        const found = ofLevel(scene.reeve(["doctor", "--json"]), "FAIL").filter((one) => one.category === "layout");
        expect(found).toHaveLength(1);
        expect(found[0]?.subject).toContain(".ai/manifest.yaml");
      });
    }
  });

  test("a rule that does not parse, or one of two of the same id", () => {
    const rule = ".ai/repo/rules/vendor/reeve/scope-integrity.v1.md";
    withFile(rule, "no front matter\n", () => {
      const said = scene.reeve(["doctor", "--json"]);
      expect(said.exit).toBe(10);
      expect(
        ofLevel(said, "FAIL")
          .map((one) => one.subject)
          .join(),
      ).toContain("scope-integrity.v1.md");
    });
    scene.write(".ai/repo/rules/project/copy.v1.md", scene.read(rule));
    expect(scene.reeve(["doctor"]).exit).toBe(10);
    fs.rmSync(scene.at(".ai/repo/rules/project/copy.v1.md"));
    expect(scene.reeve(["doctor"]).exit).toBe(0);
  });

  test("a rule a person removed is no longer evaluated, and finish refuses for want of it", () => {
    const rule = ".ai/repo/rules/vendor/reeve/note-integrity.v1.md";
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    withFile(rule, undefined, () => {
      const said = scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true", "--json"]);
      expect(said.exit).toBe(10);
      expect(ofLevel(said, "FAIL").map((one) => one.subject)).toContain("note_present");
    });
    expect(scene.reeve(["handover", "--derive", "--close"]).exit).toBe(0);
  });
});

describe("doctor about the place of the layer", () => {
  test("fails project data in the layout before .ai/", () => {
    scene.write(".majordomus/policy.yaml", "version: 1\n");
    const found = onlyFailure(scene.reeve(["doctor", "--json"]));
    expect(found.subject).toBe(".majordomus");
    expect(scene.sh(found.reproduce ?? "").exit).toBe(0);
    fs.rmSync(scene.at(".majordomus"), { recursive: true });
  });

  test("names the line of the key it complains of", () => {
    const text = scene.read(policy).replace("max_body_lines: 40", "max_body_lines: 0");
    withFile(policy, text, () => {
      const found = ofLevel(scene.reeve(["doctor", "--json"]), "FAIL")[0];
      expect(found?.subject).toBe(`${policy}:${lineOf(text, "max_body_lines: 0")}`);
    });
  });

  test("says the same to a person and to a program", () => {
    withFile(policy, `${scene.read(policy)}\nsurprise: 1\n`, () => {
      const text = scene.reeve(["doctor"]);
      for (const finding of ofLevel(scene.reeve(["doctor", "--json"]), "FAIL")) {
        expect(text.stdout).toContain(`FAIL ${finding.category} ${finding.subject} — ${finding.message}`);
        expect(text.stdout).toContain(`[reproduce: ${finding.reproduce}]`);
      }
      expect(text.stdout).toMatch(/^doctor: \d+ failures? of \d+ findings?$/m);
    });
  });
});
