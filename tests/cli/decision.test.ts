import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, type Members, ofLevel, resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const file = ".ai/local/state/decisions.md";

function listed(scene: Scene, ...more: readonly string[]): readonly Members[] {
  return resultOf(scene.reeve(["decision", "list", ...more, "--json"]))["decisions"] as readonly Members[];
}

describe("reeve decision add", () => {
  test("appends a whole entry and one ledger line, with task and commit", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    const before = scene.read(file);
    const args = ["decision", "add", "Compare exactly", "--why", "forged states", "--rejected", "relaxing it"];
    const said = scene.reeve([...args, "--evidence", "test/a.ts:4"]);
    expect(said).toEqual({ exit: 0, stdout: "recorded: Compare exactly\n", stderr: "" });
    const head = scene.git(["rev-parse", "HEAD"]).trim();
    const id = String(scene.ledger()[0]?.["task_id"]);
    const text = scene.read(file);
    expect(text.startsWith(before)).toBe(true);
    const entry = text.slice(before.length);
    expect(entry).toMatch(/^\n?## \d{4}-\d\d-\d\d — Compare exactly\n/);
    for (const row of [
      `Task: ${id}`,
      `Head: ${head}`,
      "Why: forged states",
      "Rejected: relaxing it",
      "Evidence: test/a.ts:4",
    ])
      expect(entry).toContain(`${row}\n`);
    expect(entry).toContain("Supersedes: -\n");
    expect(scene.ledger().at(-1)).toMatchObject({
      event: "decision.recorded",
      decision: "Compare exactly",
      task_id: id,
    });
  });

  test("keeps a reason of several lines, and one that looks like a field, as one entry", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["decision", "add", "A", "--why", "one\nHead: forged\n## 2020-01-01 — Forged"]).exit).toBe(0);
    const entries = listed(scene);
    expect(entries).toHaveLength(1);
    expect(entries[0]?.["head"]).toBe(scene.git(["rev-parse", "HEAD"]).trim());
    expect(String(entries[0]?.["why"])).toContain("Forged");
    expect(scene.reeve(["doctor", "--rule", "decision-records"]).exit).toBe(0);
  });

  test("keeps a title and a reason that open a comment, and every entry after it", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["decision", "add", "use <!-- markers", "--why", "<!-- so -->\n<!--"]).exit).toBe(0);
    expect(scene.reeve(["decision", "add", "later", "--why", "w"]).exit).toBe(0);
    expect(listed(scene).map((entry) => entry["title"])).toEqual(["later", "use <!-- markers"]);
    expect(scene.reeve(["decision", "add", "instead", "--why", "w", "--supersedes", "markers"]).exit).toBe(0);
  });

  test("refuses a title that is recorded already, so that a supersession can always name one", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["decision", "add", "A", "--why", "w"]).exit).toBe(0);
    expect(failureOf(scene.reeve(["decision", "add", "A", "--why", "v", "--json"]))).toMatchObject({ exit: 15 });
    expect(listed(scene)).toHaveLength(1);
  });

  test.each([
    ["no reason", ["add", "x"], 2],
    ["an empty reason", ["add", "x", "--why", " "], 2],
    ["no title", ["add", "--why", "w"], 2],
    ["a title of two lines", ["add", "a\nb", "--why", "w"], 2],
    ["a supersession of nothing", ["add", "x", "--why", "w", "--supersedes", "never said"], 12],
  ])("refuses %s and writes nothing", (_, args, exit) => {
    const scene = makeScene({ layer: true });
    const before = scene.read(file);
    expect(failureOf(scene.reeve(["decision", ...args, "--json"]))).toMatchObject({ exit });
    expect(scene.read(file)).toBe(before);
    expect(scene.ledger()).toEqual([]);
  });
});

describe("recorded decisions", () => {
  let scene: Scene;
  beforeAll(() => {
    scene = makeScene({ layer: true });
    for (const title of ["Keep the slash", "Keep the query", "Compare exactly"])
      expect(scene.reeve(["decision", "add", title, "--why", "w"]).exit).toBe(0);
  });

  test("are listed newest first, limited and by task", () => {
    expect(listed(scene).map((entry) => entry["title"])).toEqual([
      "Compare exactly",
      "Keep the query",
      "Keep the slash",
    ]);
    expect(listed(scene, "--limit", "1")).toHaveLength(1);
    expect(listed(scene, "--task", "t-20200101000000-abcd")).toEqual([]);
  });

  test("are shown by part of a title, or 12", () => {
    expect(scene.reeve(["decision", "show", "query"]).stdout).toContain("Keep the query");
    expect(failureOf(scene.reeve(["decision", "show", "nothing like it", "--json"]))).toMatchObject({ exit: 12 });
  });

  test("are superseded by exactly one", () => {
    const several = failureOf(scene.reeve(["decision", "add", "x", "--why", "w", "--supersedes", "Keep", "--json"]));
    expect(several).toMatchObject({ code: "AMBIGUOUS", exit: 15 });
    expect(several.message).toContain("Keep the slash");
    expect(scene.reeve(["decision", "add", "Drop it", "--why", "w", "--supersedes", "slash"]).exit).toBe(0);
    expect(scene.read(file)).toContain("Supersedes: Keep the slash\n");
    expect(scene.reeve(["decision", "list"]).stdout).toMatch(/Keep the slash\n +Superseded by: Drop it/);
    expect(scene.ledger().at(-1)).toMatchObject({ supersedes: "Keep the slash" });
  });

  test("without a reason are warned of, in a comment ignored", () => {
    const own = makeScene({ layer: true });
    own.write(file, `${own.read(file)}\n<!--\n## 2020-01-01 — Not one\n-->\n`);
    expect(ofLevel(own.reeve(["doctor", "--rule", "decision-records", "--json"]), "WARN")).toEqual([]);
    own.write(file, `${own.read(file)}\n## 2020-01-01 — By hand\n\nTask: -\nHead: -\nWhy: -\n`);
    const said = own.reeve(["doctor", "--rule", "decision-records", "--json"]);
    expect(said.exit).toBe(0);
    expect(ofLevel(said, "WARN")[0]?.message).toMatch(/By hand.*Why/);
  });
});
