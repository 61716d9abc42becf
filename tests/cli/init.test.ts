import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, resultOf, rowsOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function listFiles(scene: Scene): readonly string[] {
  return rowsOf(scene.sh("find .ai .gitignore .git/hooks .git/reeve 2>/dev/null | sort").stdout);
}

describe("reeve init", () => {
  test("writes the skeleton, every rule and one ignore line, and says so", () => {
    const scene = makeScene();
    const said = scene.reeve(["init"]);
    expect(said).toMatchObject({ exit: 0, stderr: "" });
    for (const path of [
      ".ai/README.md",
      ".ai/manifest.yaml",
      ".ai/repo/policy.yaml",
      ".gitignore: /.ai/local",
      ".gitattributes: /.ai/repo/state.jsonl text eol=lf",
    ])
      expect(said.stdout).toContain(path);
    expect(said.stdout).toContain("reeve init --extend --hooks");
    expect(scene.read(".gitignore")).toBe("/.ai/local\n");
    expect(scene.git(["check-attr", "eol", ".ai/repo/state.jsonl"])).toContain("eol: lf");
    expect(scene.exists(".majordomus")).toBe(false);
    const shipped = fs.readdirSync("share/rules").filter((name) => name.endsWith(".md"));
    for (const name of shipped)
      expect(scene.read(`.ai/repo/rules/vendor/reeve/${name}`)).toBe(fs.readFileSync(`share/rules/${name}`, "utf8"));
  });

  test("leaves a tracked file in every section the manifest names", () => {
    const scene = makeScene({ layer: true });
    const named = scene.read(".ai/manifest.yaml").split(/^sections:$/m)[1] ?? "";
    const sections = [...named.matchAll(/^ {2}([\w-]+): *(repo\/\S+)$/gm)];
    expect(sections.length).toBeGreaterThan(5);
    for (const [, , path] of sections) {
      expect(scene.git(["ls-files", `.ai/${path}`]), path).not.toBe("");
    }
    expect(scene.read(".ai/repo/policy.yaml")).toMatch(/^projections: \[\]$/m);
  });

  test("installs no hook unless asked", () => {
    const scene = makeScene();
    const before = scene.sh("ls .git/hooks").stdout;
    expect(scene.reeve(["init"]).exit).toBe(0);
    expect(scene.sh("ls .git/hooks").stdout).toBe(before);
  });

  test("refuses a layer that is there, and changes nothing", () => {
    const scene = makeScene({ layer: true });
    const before = scene.sh("find .ai -type f | xargs sha256sum").stdout;
    const failure = failureOf(scene.reeve(["init", "--json"]));
    expect(failure).toMatchObject({ code: "LAYER_EXISTS", exit: 15 });
    expect(failure.hint).toContain("reeve init --extend");
    expect(scene.sh("find .ai -type f | xargs sha256sum").stdout).toBe(before);
  });

  test("--extend adds what is missing and overwrites nothing", () => {
    const scene = makeScene({ layer: true });
    scene.write(".ai/repo/scope.yaml", "# ours\n");
    fs.rmSync(scene.at(".ai/repo/profiles/routine.yaml"));
    const result = resultOf(scene.reeve(["init", "--extend", "--json"]));
    expect(result).toMatchObject({ created: [".ai/repo/profiles/routine.yaml"], extended: true });
    expect(scene.read(".ai/repo/scope.yaml")).toBe("# ours\n");
    expect(scene.git(["status", "--porcelain"])).toBe(" M .ai/repo/scope.yaml\n");
    expect(scene.reeve(["init", "--extend"]).stdout).toContain("nothing was missing");
    expect(scene.read(".gitignore")).toBe("/.ai/local\n");
  });

  test("adds its line to a .gitignore that has no newline at its end", () => {
    const scene = makeScene();
    scene.write(".gitignore", "node_modules");
    expect(scene.reeve(["init"]).exit).toBe(0);
    expect(scene.read(".gitignore")).toBe("node_modules\n/.ai/local\n");
  });

  test("adds its line to the .gitattributes of a person, once, and changes no other", () => {
    const scene = makeScene();
    scene.write(".gitattributes", "*.png binary\r\n* text=auto");
    expect(scene.reeve(["init"]).exit).toBe(0);
    const whole = "*.png binary\r\n* text=auto\n/.ai/repo/state.jsonl text eol=lf\n";
    expect(scene.read(".gitattributes")).toBe(whole);
    expect(resultOf(scene.reeve(["init", "--extend", "--json"]))).toMatchObject({ attributes: [] });
    expect(scene.read(".gitattributes")).toBe(whole);
  });

  test("--dry-run prints the plan and writes nothing", () => {
    const scene = makeScene();
    const before = listFiles(scene);
    const text = scene.reeve(["init", "--hooks", "--dry-run"]);
    expect(text).toMatchObject({ exit: 0, stderr: "" });
    expect(text.stdout).toContain(".ai/manifest.yaml");
    const { plan } = resultOf(scene.reeve(["init", "--hooks", "-n", "--json"]));
    expect(JSON.stringify(plan)).toContain("pre-commit");
    expect(listFiles(scene)).toEqual(before);
    expect(scene.git(["status", "--porcelain"])).toBe("");
  });
});

describe("reeve init where something else stands", () => {
  test.each([
    ["a file", "printf x > .ai", "file"],
    ["a link", "ln -s elsewhere .ai", "link"],
  ])("refuses when .ai is %s", (_, make, said) => {
    const scene = makeScene();
    scene.sh(make);
    for (const extend of [[], ["--extend"]]) {
      const failure = failureOf(scene.reeve(["init", ...extend, "--json"]));
      expect(failure).toMatchObject({ exit: 15, code: "LAYER_EXISTS" });
      expect(failure.message).toContain(said);
      expect(failure.hint).toBeDefined();
    }
  });

  test("refuses a folder without a manifest and names both ways on", () => {
    const scene = makeScene();
    scene.write(".ai/notes.md", "mine\n");
    const failure = failureOf(scene.reeve(["init", "--json"]));
    expect(failure).toMatchObject({ exit: 15 });
    expect(failure.hint).toMatch(/aside.*--extend/);
    expect(scene.reeve(["init", "--extend"]).exit).toBe(0);
    expect(scene.read(".ai/notes.md")).toBe("mine\n");
  });

  test("refuses the layout before .ai/", () => {
    const scene = makeScene();
    scene.write(".majordomus/policy.yaml", "version: 1\n");
    expect(failureOf(scene.reeve(["init", "--json"]))).toMatchObject({ exit: 15 });
    expect(scene.exists(".ai")).toBe(false);
  });

  test("says where a folder is no repository", () => {
    const scene = makeScene();
    fs.mkdirSync(`${scene.folder}/plain`);
    const failure = failureOf(scene.reeve(["init", "--json"], { cwd: `${scene.folder}/plain` }));
    expect(failure).toMatchObject({ code: "NOT_A_REPOSITORY", exit: 2 });
    expect(failure.message).toContain(`${scene.folder}/plain`);
    expect(fs.readdirSync(`${scene.folder}/plain`)).toEqual([]);
  });
});
