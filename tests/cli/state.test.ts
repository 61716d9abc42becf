import * as fs from "node:fs";
import { cacheDirFor, stateDirFor } from "@reeve/store/table";
import { describe, expect, test } from "vitest";
import { failureOf, foundIn, onlyFailure, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const contributed = ".ai/repo/state.jsonl";

const entry = {
  path: ".ai/local/state/tool-x/",
  purpose: "What the tool keeps.",
  because: "It has no other place.",
  owner: "x",
  writer: "x",
  holds: "directory",
  portability: "carry",
  scope: "checkout",
  invalidates: ["x"],
};

/** A layer that was worked with, and the home behind its local half. */
function makeUsed(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["decision", "add", "x", "--why", "y"]).exit).toBe(0);
  return scene;
}

describe("reeve state", () => {
  test("lists every file of both halves with class, size and health, as state list does", () => {
    const scene = makeUsed();
    const { files, entries } = resultOf(scene.reeve(["state", "--json"])) as {
      files: { path: string; group: string; bytes: number; health: string; entry: string | null }[];
      entries: { path: string; files: number }[];
    };
    const onDisk = rowsOf(scene.sh("find -H .ai .ai/local/ -type f | sed 's#//#/#' | sort -u").stdout);
    expect(files.map(({ path }) => path)).toEqual([...onDisk].sort());
    for (const { path, bytes, group, entry: claimed } of files) {
      // Reading the layer may write its caches.
      if (!path.startsWith(".ai/local/cache/")) expect(bytes, path).toBe(fs.statSync(`${scene.repo}/${path}`).size);
      expect([group, claimed], path).not.toContain(null);
    }
    expect(new Set(files.map(({ health }) => health))).toEqual(new Set(["ok"]));
    expect(entries.find(({ path }) => path === ".ai/local/state/ledger.jsonl")?.files).toBe(1);
    expect(scene.reeve(["state"]).stdout).toBe(scene.reeve(["state", "list"]).stdout);
  });

  test("shows where every file really lies, and what lies outside the layer", () => {
    const scene = makeUsed();
    fs.mkdirSync(scene.at(".git/reeve/strange"));
    fs.writeFileSync(scene.at(".git/reeve/strange/file"), "x");
    const { files, homes, outside } = resultOf(scene.reeve(["state", "--json"])) as {
      files: { path: string; place: string }[];
      homes: { path: string; state: string }[];
      outside: { path: string; health: string; entry: string | null }[];
    };
    for (const { path, place } of files) expect(place).toBe(fs.realpathSync(scene.at(path)));
    expect(homes).toEqual([{ path: scene.at(".git/reeve/checkouts/main"), checkout: "main", state: "this" }]);
    expect(outside.filter(({ health }) => health === "bad")).toEqual([
      expect.objectContaining({ path: scene.at(".git/reeve/strange/file"), entry: null }),
    ]);
    const { stdout } = scene.reeve(["state"]);
    expect(stdout).toContain(`home      ${scene.at(".git/reeve/checkouts/main")}  this checkout's half`);
  });

  test("shows the home of a worktree that is gone, and one whose name was taken again", () => {
    const scene = makeUsed();
    const stateOf = (): unknown =>
      (resultOf(scene.reeve(["state", "--json"])) as { homes: { checkout: string; state: string }[] }).homes
        .filter(({ checkout }) => checkout.startsWith("other"))
        .map(({ state }) => state);
    const work = (): void => {
      scene.git(["worktree", "add", "-q", "--detach", scene.at("../other")]);
      expect(scene.reeve(["decision", "add", "x", "--why", "y"], { cwd: scene.at("../other") }).exit).toBe(0);
    };
    work();
    expect(stateOf()).toEqual(["used"]);
    scene.git(["worktree", "remove", "--force", scene.at("../other")]);
    expect(stateOf()).toEqual(["left"]);
    work();
    expect(stateOf()).toEqual(["used", "aside"]);
  });

  test("shows one class alone, and refuses one there is not", () => {
    const scene = makeUsed();
    const { files } = resultOf(scene.reeve(["state", "list", "--group", "records", "--json"])) as {
      files: { group: string }[];
    };
    expect(new Set(files.map(({ group }) => group))).toEqual(new Set(["records"]));
    expect(failureOf(scene.reeve(["state", "list", "--group", "recrods", "--json"])).message).toContain("records");
  });
});

describe("reeve state explain", () => {
  test("answers with every member the design names", () => {
    const scene = makeUsed();
    expect(resultOf(scene.reeve(["state", "explain", ".ai/local/state/ledger.jsonl", "--json"]))).toEqual({
      path: ".ai/local/state/ledger.jsonl",
      entry: ".ai/local/state/ledger.jsonl",
      group: "records",
      tracked: false,
      searched: true,
      backedUp: true,
      carried: "yes",
      locked: false,
      watched: true,
      invalidates: ["history", "task"],
      why: "A log: entries are only ever added.",
      place: fs.realpathSync(`${scene.repo}/.ai/local/state/ledger.jsonl`),
    });
  });

  test.each([
    [".ai/local/secrets/new-store.json", { group: "secrets", entry: null, locked: true, carried: "never" }],
    [".ai/local/secrets/.a.42.x.tmp", { group: "secrets", locked: true, carried: "never" }],
    [".ai/local/secrets/a.corrupt-20260101T000000Z", { group: "secrets", locked: true, carried: "never" }],
    ["x/../.ai/local/secrets/a", { path: ".ai/local/secrets/a", locked: true }],
    [".AI/LOCAL/SECRETS/a", { locked: true, carried: "never" }],
    [".ai\\local\\secrets\\a", { path: ".ai/local/secrets/a", locked: true }],
    [".ai/local/cache/parsed.json", { group: "local", carried: "never", watched: false, backedUp: false }],
    [".ai/local/state/ledger.jsonl.lock", { group: "records", carried: "never", searched: false }],
    [".ai/local/state/stray", { group: "records", entry: null, carried: "never" }],
    ["src/index.ts", { group: null, entry: null, locked: false }],
    [".git/config", { group: null, locked: true }],
    ["../elsewhere", { group: null, locked: true }],
  ])("tells what %s is", (path, wanted) => {
    const scene = makeScene({ layer: true });
    expect(resultOf(scene.reeve(["state", "explain", path, "--json"]))).toMatchObject(wanted);
  });

  test("takes a path from where it is called", () => {
    const scene = makeScene({ layer: true });
    const cwd = scene.at("sub");
    fs.mkdirSync(cwd);
    const said = resultOf(scene.reeve(["state", "explain", "../.ai/repo/policy.yaml", "--json"], { cwd }));
    expect(said).toMatchObject({ path: ".ai/repo/policy.yaml", tracked: true });
  });
});

describe("reeve state check", () => {
  test("passes a layer as Reeve made it and used it", () => {
    const scene = makeUsed();
    const answer = scene.reeve(["state", "check", "--verbose"]);
    expect(answer.exit, answer.stdout).toBe(0);
    expect(answer.stdout).toContain(".ai/local/state/ledger.jsonl");
  });

  test.each<[string, (scene: Scene) => void, string, string]>([
    [
      "a file nobody declared",
      (s) => s.write(".ai/local/state/stray", "x"),
      ".ai/local/state/stray",
      "no entry declares it",
    ],
    ["one in secrets", (s) => s.write(".ai/local/secrets/x", "x", 0o600), ".ai/local/secrets/x", "folder of secrets"],
    [
      "a secret that others may read",
      (s) => s.write(".ai/local/secrets/x", "x", 0o644),
      ".ai/local/secrets/x",
      "may be read by others (mode 644)",
    ],
    ["one in identity", (s) => s.write(".ai/local/identity/x", "x", 0o600), ".ai/local/identity/x", "of identity"],
    ["one beside both halves", (s) => s.write(".ai/stray", "x"), ".ai/stray", "no entry declares it"],
    [
      "a manifest of a newer Reeve",
      (s) => s.write(".ai/manifest.yaml", s.read(".ai/manifest.yaml").replace("ai-repository/v1", "ai-repository/v9")),
      ".ai/manifest.yaml",
      "ai-repository/v9",
    ],
    [
      "a damaged line",
      (s) => s.write(".ai/local/state/ledger.jsonl", "x\n"),
      ".ai/local/state/ledger.jsonl:1",
      "unexpected",
    ],
    ["a policy that does not parse", (s) => s.write(".ai/repo/policy.yaml", "a: [\n"), ".ai/repo/policy.yaml", ""],
    [
      "a link that leads to a secret",
      (s) => fs.symlinkSync("../local/secrets/a", `${s.repo}/.ai/repo/link.yaml`),
      ".ai/repo/link.yaml",
      "symbolic link",
    ],
  ])("names %s", (_what, spoil, subject, says) => {
    const scene = makeUsed();
    spoil(scene);
    const answer = scene.reeve(["state", "check", "--json"]);
    expect(answer.exit).toBe(10);
    const failing = foundIn(answer).filter(({ level }) => level === "FAIL");
    const found = failing.filter((finding) => finding.subject.startsWith(subject));
    expect(found.map(({ message }) => message).join("; "), answer.stdout).toContain(says);
    for (const { next } of found) expect(next).toMatch(/./);
  });

  test("quotes what a person is to type, and leaves a person's file to them", () => {
    const scene = makeUsed();
    const declared = { ...entry, path: ".ai/repo/tool x.jsonl", holds: "log", versioned: true, writer: "a person" };
    scene.write(contributed, `${JSON.stringify(declared)}\n`);
    scene.write(declared.path, "no line\n");
    fs.symlinkSync("elsewhere", `${scene.repo}/.ai/repo/a link`);
    const nexts = foundIn(scene.reeve(["state", "check", "--json"])).flatMap(({ next }) =>
      next === undefined ? [] : [next],
    );
    expect(nexts.sort()).toEqual(["mend line 1 by hand", "put the file itself there: rm '.ai/repo/a link'"]);
  });

  test("names a secret that git tracks", () => {
    const scene = makeScene();
    expect(scene.reeve(["init", "--home", "checkout"]).exit).toBe(0);
    scene.write(".ai/local/secrets/token", "x", 0o600);
    scene.git(["add", "--force", ".ai/local/secrets/token"]);
    const said = foundIn(scene.reeve(["state", "check", "--json"]));
    expect(said.filter(({ next }) => next === "git rm --cached .ai/local/secrets/token")).toHaveLength(1);
  });

  test("names records that git tracks", () => {
    const scene = makeScene();
    expect(scene.reeve(["init", "--home", "checkout"]).exit).toBe(0);
    expect(scene.reeve(["decision", "add", "x", "--why", "y"]).exit).toBe(0);
    scene.git(["add", "--force", ".ai/local/state/ledger.jsonl"]);
    expect(onlyFailure(scene.reeve(["state", "check", "--json"]))).toMatchObject({
      subject: ".ai/local/state/ledger.jsonl",
      next: "git rm --cached .ai/local/state/ledger.jsonl",
    });
  });
});

describe("contributed entries", () => {
  test("join the table, and everything follows for them", () => {
    const scene = makeUsed();
    scene.write(contributed, `${JSON.stringify(entry)}\n`);
    scene.write(".ai/local/state/tool-x/a.json", "{}");
    expect(scene.reeve(["state", "check"]).exit).toBe(0);
    expect(resultOf(scene.reeve(["state", "explain", ".ai/local/state/tool-x/a.json", "--json"]))).toMatchObject({
      entry: entry.path,
      carried: "yes",
      invalidates: ["x"],
      why: entry.because,
    });
  });

  test("declare the folder that is a tool's own by its identity", () => {
    const scene = makeUsed();
    const path = stateDirFor("@acme/tool");
    scene.write(contributed, `${JSON.stringify({ ...entry, path })}\n`);
    scene.write(`${path}notes.md`, "x");
    scene.write(`${cacheDirFor("@acme/tool")}x`, "x");
    expect(scene.reeve(["state", "check"]).exit).toBe(0);
    expect(resultOf(scene.reeve(["state", "explain", `${path}notes.md`, "--json"]))).toMatchObject({
      entry: path,
      group: "records",
      carried: "yes",
    });
  });

  test.each<[string, string, string]>([
    [
      "a broad prefix",
      JSON.stringify({ ...entry, path: ".ai/local/state/" }),
      `${contributed}:1: ${`.ai/local/state/ is as broad as a class`}`,
    ],
    ["a repeated path", `${JSON.stringify(entry)}\n${JSON.stringify(entry)}`, `${contributed}:2`],
    ["an unknown key", JSON.stringify({ ...entry, color: "red" }), `${contributed}:1`],
    [
      "a secret class",
      JSON.stringify({ ...entry, path: ".ai/local/secrets/x", holds: "document", portability: "secret" }),
      "class secrets",
    ],
    [
      "a path of another entry",
      JSON.stringify({ ...entry, path: ".ai/local/state/ledger.jsonl", holds: "log" }),
      "declared already",
    ],
    ["a wrong type", JSON.stringify({ ...entry, invalidates: "x" }), `${contributed}:1`],
    ["no JSON", "{", `${contributed}:1`],
    ["two members of one name", `{"path":"a","path":"b"}`, `${contributed}:1`],
  ])("are refused for %s, naming it, and nothing is written", (_what, text, says) => {
    const scene = makeUsed();
    scene.write(contributed, `${text}\n`);
    for (const command of [["state"], ["state", "check"], ["state", "explain", "x"]]) {
      const failure = failureOf(scene.reeve([...command, "--json"]));
      expect(failure.exit).toBe(10);
      expect(failure.message).toContain(says);
    }
    expect(scene.read(contributed)).toBe(`${text}\n`);
  });
});
