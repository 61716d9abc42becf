import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf } from "../answers.ts";
import { manifestIn, namesIn } from "../bundles.ts";
import { makeScene, type Scene } from "../scene.ts";

/** A token in the form of the real ones, put together here so that nobody takes it for one. */
const token = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");

function usedLayer(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
  expect(scene.reeve(["decision", "add", "one thing", "--why", "a reason"]).exit).toBe(0);
  return scene;
}

function exported(scene: Scene, ...args: readonly string[]): Members {
  return resultOf(scene.reeve(["state", "export", "../out.tgz", "--json", ...args]));
}

function filesIn(scene: Scene): readonly string[] {
  return namesIn(fs.readFileSync(`${scene.folder}/out.tgz`));
}

describe("reeve state export", () => {
  test("packs what the table lets travel, manifest first, for its owner alone", () => {
    const scene = usedLayer();
    const result = exported(scene);
    const names = filesIn(scene);
    expect(names[0]).toBe("reeve-bundle.json");
    expect(names).toContain(".ai/repo/policy.yaml");
    expect(names).toContain(".ai/local/state/ledger.jsonl");
    expect(result).toMatchObject({ dry_run: false, encrypted: false, files: names.length - 1 });
    const bundle = fs.statSync(`${scene.folder}/out.tgz`);
    expect(bundle.mode & 0o777).toBe(0o600);
    expect(result["bytes"]).toBe(bundle.size);
    expect(fs.readdirSync(scene.folder).filter((name) => name.includes(".tmp"))).toEqual([]);
  });

  test("leaves out the task of the checkout, caches, identity, secrets, copies and what nobody declared", () => {
    const scene = usedLayer();
    scene.write(".ai/local/identity/id.json", "{}");
    scene.write(".ai/local/secrets/token", "a");
    scene.write(".ai/local/state/unknown.txt", "a");
    scene.write(".ai/local/state/ledger.jsonl.damaged", "a");
    scene.write(".ai/local/state/handovers/.x.md.42.a1.tmp", "a");
    fs.symlinkSync("policy.yaml", scene.at(".ai/repo/link.yaml"));
    const result = exported(scene);
    const names = filesIn(scene).filter((name) => name.startsWith(".ai/local/"));
    expect(names).toEqual([
      ".ai/local/state/decisions.md",
      ".ai/local/state/ledger.jsonl",
      ".ai/local/state/open-questions.md",
    ]);
    expect(filesIn(scene)).not.toContain(".ai/repo/link.yaml");
    const passed = new Map(
      (result["passed_over"] as readonly { path: string; because: string }[]).map(({ path, because }) => [
        path,
        because,
      ]),
    );
    expect(passed.get(".ai/local/state/unknown.txt")).toBe("undeclared");
    expect(passed.get(".ai/local/state/ledger.jsonl.damaged")).toBe("derived");
    expect(passed.get(".ai/local/secrets/token")).toBe("undeclared");
    expect(passed.get(".ai/repo/link.yaml")).toBe("kind");
    expect(result["left_out"]).toContainEqual({ path: ".ai/local/state/current.yaml", because: "stays", files: 1 });
  });

  test("a manifest says where it is from, and size and hash of each file", () => {
    const scene = usedLayer();
    exported(scene);
    const manifest = manifestIn(fs.readFileSync(`${scene.folder}/out.tgz`));
    const [root] = scene.git(["rev-list", "--max-parents=0", "HEAD"]).split("\n");
    expect(manifest).toMatchObject({
      format: 1,
      kind: "layer",
      origin: { repository: root },
      includes: { prompts: false, secrets: false },
    });
    const files = manifest["files"] as readonly { path: string; size: number; sha256: string }[];
    for (const { path, size, sha256 } of files) {
      expect(Buffer.byteLength(scene.read(path)), path).toBe(size);
      expect(sha256, path).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(files.map(({ path }) => path)).toEqual(filesIn(scene).slice(1));
  });

  test("writes nothing in a dry run, and says what it would", () => {
    const scene = usedLayer();
    const result = exported(scene, "--dry-run");
    expect(result).toMatchObject({ dry_run: true, bytes: 0 });
    expect(fs.existsSync(`${scene.folder}/out.tgz`)).toBe(false);
    expect(scene.reeve(["state", "export", "../out.tgz", "-n"]).stdout).toMatch(
      /^would write \.\.\/out\.tgz: \d+ files/,
    );
  });

  test.each([
    ["a file that is there", "../taken", "REFUSED"],
    ["a folder", "../home", "REFUSED"],
    ["a link", "../link", "REFUSED"],
    ["a path in the layer", ".ai/repo/out.tgz", "REFUSED"],
    ["a path in the layer behind ..", "src/../.ai/local/state/out.tgz", "REFUSED"],
    ["a path in git's folder", ".git/reeve/out.tgz", "REFUSED"],
    ["a folder that is not there", "../absent/out.tgz", "MISSING_FILE"],
  ])("refuses %s", (_what, target, code) => {
    const scene = usedLayer();
    fs.writeFileSync(`${scene.folder}/taken`, "mine");
    fs.symlinkSync("nowhere", `${scene.folder}/link`);
    expect(failureOf(scene.reeve(["state", "export", target, "--json"]))).toMatchObject({ code });
    expect(fs.readFileSync(`${scene.folder}/taken`, "utf8")).toBe("mine");
    expect(fs.existsSync(scene.at(target)) && !["../taken", "../home"].includes(target)).toBe(false);
  });

  test("a line that looks like a secret stops it, named by file, line and rule, its value never shown", () => {
    const scene = usedLayer();
    scene.write(".ai/repo/notes.md", `# Notes\n\nuse ${token}\n`);
    const answer = scene.reeve(["state", "export", "../out.tgz"]);
    expect(answer.exit).toBe(15);
    expect(answer.stdout).toContain(".ai/repo/notes.md:3 (github)");
    expect(answer.stdout).toContain("--exclude .ai/repo/notes.md");
    expect(answer.stdout + answer.stderr).not.toContain(token);
    expect(fs.existsSync(`${scene.folder}/out.tgz`)).toBe(false);
    expect(failureOf(scene.reeve(["state", "export", "../out.tgz", "--json"])).message).not.toContain(token);
    const left = exported(scene, "--exclude", ".ai/repo/notes.md");
    expect(left["left_out"]).toContainEqual({ path: ".ai/repo/", because: "excluded", files: 1 });
    expect(filesIn(scene)).not.toContain(".ai/repo/notes.md");
  });

  test("finds a secret deep in a large text, and passes binary files by", () => {
    const scene = usedLayer();
    const lines = Array.from({ length: 40_000 }, (_, at) => `line ${at} of a text that is long enough`);
    scene.write(".ai/repo/long.md", [...lines, token, ...lines].join("\n"));
    scene.write(".ai/repo/image.bin", Buffer.concat([Buffer.alloc(4), Buffer.from(token)]));
    const failure = failureOf(scene.reeve(["state", "export", "../out.tgz", "--json"]));
    expect(failure.message).toContain(".ai/repo/long.md:40001 (github)");
    expect(failure.message).not.toContain("image.bin");
    expect(exported(scene, "--exclude", ".ai/repo/long.md")["swept"]).toMatchObject({ binary: 1 });
  });

  test("refuses an exclusion that names nothing", () => {
    const scene = usedLayer();
    const answer = scene.reeve(["state", "export", "../out.tgz", "--exclude", ".ai/repo/nothing", "--json"]);
    expect(failureOf(answer)).toMatchObject({ code: "NOT_FOUND" });
  });

  test("encrypts with a passphrase from a file or a variable, and refuses an empty one", () => {
    const scene = usedLayer();
    fs.writeFileSync(`${scene.folder}/words`, "correct horse battery\n");
    expect(exported(scene, "--passphrase-file", "../words")["encrypted"]).toBe(true);
    const head = fs.readFileSync(`${scene.folder}/out.tgz`).subarray(0, 64).toString("latin1");
    expect(head).toMatch(/^age-encryption\.org\/v1\n-> scrypt /);
    const env = { REEVE_PASSPHRASE: "" };
    expect(failureOf(scene.reeve(["state", "export", "../b.tgz", "--json"], { env }))).toMatchObject({ code: "USAGE" });
  });

  test("export and import hold little in memory, however much they move", () => {
    const scene = usedLayer();
    const megabyte = randomBytes(1 << 20);
    const large = fs.openSync(scene.at(".ai/local/state/completed/large.md"), "w");
    for (let at = 0; at < 256; at += 1) fs.writeSync(large, megabyte);
    fs.closeSync(large);
    const other = makeScene({ layer: true });
    expect(peakBytes(scene, `state export ${scene.folder}/out.tgz`)).toBeLessThan(200 * 1024 ** 2);
    expect(peakBytes(other, `state import ${scene.folder}/out.tgz`)).toBeLessThan(200 * 1024 ** 2);
    expect(fs.statSync(other.at(".ai/local/state/completed/large.md")).size).toBe(256 * 1024 ** 2);
  }, 300_000);
});

/** Runs the program and answers the most memory it had at once. */
function peakBytes(scene: Scene, words: string): number {
  const probe = `${scene.folder}/probe.cjs`;
  const peak = `${scene.folder}/peak`;
  fs.writeFileSync(
    probe,
    `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(peak)}, String(process.resourceUsage().maxRSS)));`,
  );
  const built = path.resolve("packages/cli/dist/reeve.cjs");
  const answer = scene.sh(`'${process.execPath}' --require '${probe}' '${built}' ${words}`);
  expect(answer.exit, answer.stdout + answer.stderr).toBe(0);
  return Number(fs.readFileSync(peak, "utf8")) * 1024;
}
