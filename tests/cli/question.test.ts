import { describe, expect, test } from "vitest";
import { failureOf, type Members, onlyFailure, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const file = ".ai/local/state/open-questions.md";

function listed(scene: Scene, ...more: readonly string[]): readonly Members[] {
  return resultOf(scene.reeve(["question", "list", ...more, "--json"]))["questions"] as readonly Members[];
}

function entries(scene: Scene): readonly string[] {
  return rowsOf(scene.read(file)).filter((row) => /^- \[(?:un)?resolved/.test(row));
}

describe("reeve question", () => {
  test("add appends a line of the fixed form, for the task or for none", () => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["question", "add", "Whose is it?"]).stdout).toBe("opened for no task: Whose is it?\n");
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    const id = String(scene.ledger().at(-1)?.["task_id"]);
    expect(scene.reeve(["question", "add", "Which form (old or new)?"]).stdout).toContain(id);
    expect(entries(scene)[0]).toMatch(/^- \[unresolved\] none — Whose is it\? \(\d{4}-\d\d-\d\d\)$/);
    expect(entries(scene)[1]).toContain(`- [unresolved] ${id} — Which form (old or new)? (`);
    expect(scene.ledger().at(-1)).toMatchObject({ event: "question.opened", task_id: id });
  });

  test("resolve rewrites that one line, by number or by text", () => {
    const scene = makeScene({ layer: true });
    for (const text of ["First?", "Second one?", "Second two?"]) scene.reeve(["question", "add", text]);
    const before = scene.read(file);
    expect(scene.reeve(["question", "resolve", "two", "--answer", "yes — really"]).exit).toBe(0);
    const [first, second, third] = entries(scene);
    expect(third).toMatch(/^- \[resolved \d{4}-\d\d-\d\d\] none — Second two\? \(\d{4}-\d\d-\d\d\) — yes — really$/);
    expect([first, second]).toEqual(
      rowsOf(before)
        .filter((row) => row.startsWith("- [unresolved]"))
        .slice(0, 2),
    );
    expect(scene.reeve(["question", "resolve", "1", "--answer", "so"]).exit).toBe(0);
    expect(scene.ledger().at(-1)).toMatchObject({ event: "question.resolved", question: "First?", answer: "so" });
    expect(listed(scene)).toHaveLength(1);
    expect(listed(scene)[0]).toMatchObject({ number: 1, question: "Second one?" });
    expect(listed(scene, "--all")).toHaveLength(3);
    expect(listed(scene, "--all")[2]).toMatchObject({ answer: "yes — really" });
  });

  test("resolves a question any task opened", () => {
    const scene = makeScene({ layer: true });
    scene.write(file, `${scene.read(file)}- [unresolved] t-20200101000000-abcd — theirs? (2020-01-01)\n`);
    expect(scene.reeve(["question", "resolve", "theirs", "--answer", "no"]).exit).toBe(0);
    expect(listed(scene, "--task", "t-20200101000000-abcd", "--all")).toHaveLength(1);
  });

  test.each([
    ["a dash that would end it", ["add", "a — b?"], 2],
    ["an empty question", ["add", " "], 2],
    ["a question of two lines", ["add", "a\nb"], 2],
    ["a resolution without an answer", ["resolve", "1"], 2],
    ["an empty answer", ["resolve", "1", "--answer", " "], 2],
    ["an answer of two lines", ["resolve", "1", "--answer", "a\nb"], 2],
    ["a number that is not there", ["resolve", "9", "--answer", "a"], 12],
    ["a text nothing has", ["resolve", "nothing like it", "--answer", "a"], 12],
    ["a text two have", ["resolve", "Second", "--answer", "a"], 15],
  ])("refuses %s and writes nothing", (_, args, exit) => {
    const scene = makeScene({ layer: true });
    const text = `${scene.read(file)}- [unresolved] none — Second a? (2020-01-01)\n- [unresolved] none — Second b? (2020-01-01)\n`;
    scene.write(file, text);
    expect(failureOf(scene.reeve(["question", ...args, "--json"]))).toMatchObject({ exit });
    expect(scene.read(file)).toBe(text);
    expect(scene.ledger()).toEqual([]);
  });

  test.each([
    "- [unresolved] none - a hyphen where a dash belongs? (2020-01-01)",
    "- [unresolved] none — no date?",
    "- [resolved] none — no day? (2020-01-01) — a",
    "- [ ] a box",
    "<<<<<<< HEAD",
  ])("a line edited by hand fails check, doctor and finish rather than being passed over: %s", (row) => {
    const scene = makeScene({ layer: true });
    expect(scene.reeve(["start", "x", "--scope", "src"]).exit).toBe(0);
    expect(scene.reeve(["check"]).exit).toBe(0);
    scene.write(file, `${scene.read(file)}${row}\n`);
    const line = scene.read(file).split("\n").indexOf(row) + 1;
    const doctor = onlyFailure(scene.reeve(["doctor", "--json"]));
    expect(doctor.subject).toBe(`${file}:${line}`);
    expect(onlyFailure(scene.reeve(["check", "--json"])).category).toBe("blockers");
    expect(scene.reeve(["finish", "--outcome", "completed", "--verify-command", "true"]).exit).toBe(10);
    expect(scene.reeve(["question", "list"]).stdout).toContain(row);
    expect(scene.read(file)).toContain(row);
  });
});
