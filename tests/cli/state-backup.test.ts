import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

const note = ".ai/local/state/completed/note.md";

function backUp(scene: Scene, ...args: readonly string[]): Members {
  return resultOf(scene.reeve(["state", "backup", "../copy", "--json", ...args]));
}

function usedLayer(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["decision", "add", "one thing", "--why", "a reason"]).exit).toBe(0);
  scene.write(note, "# A note\n");
  return scene;
}

describe("reeve state backup", () => {
  test("copies configuration, records and the task, and neither caches nor secrets nor links", () => {
    const scene = usedLayer();
    expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
    scene.write(".ai/local/secrets/token", "a");
    scene.write(".ai/local/state/unknown.txt", "a");
    fs.symlinkSync("policy.yaml", scene.at(".ai/repo/link.yaml"));
    const result = backUp(scene);
    const copied = result["copied"] as readonly string[];
    expect(copied).toContain(".ai/local/state/current.yaml");
    expect(copied).toContain(".ai/repo/policy.yaml");
    expect(copied.filter((path) => /cache|secrets|unknown|link/.test(path))).toEqual([]);
    for (const path of copied) {
      expect(fs.readFileSync(`${scene.folder}/copy/${path}`, "utf8"), path).toBe(scene.read(path));
    }
    expect(fs.statSync(`${scene.folder}/copy/${note}`).mode & 0o077).toBe(0);
    expect(fs.statSync(`${scene.folder}/copy`).mode & 0o777).toBe(0o700);
  });

  test("a second run copies only what changed, by content, and keeps what is gone here", () => {
    const scene = usedLayer();
    const first = (backUp(scene)["copied"] as readonly string[]).length;
    expect(backUp(scene)).toMatchObject({ copied: [], unchanged: first, kept: [] });
    const before = fs.statSync(scene.at(note));
    scene.write(note, "# B note\n");
    fs.utimesSync(scene.at(note), before.atime, before.mtime);
    fs.rmSync(scene.at(".ai/repo/README.md"));
    expect(backUp(scene)).toMatchObject({ copied: [note], unchanged: first - 2, kept: [".ai/repo/README.md"] });
    expect(fs.readFileSync(`${scene.folder}/copy/${note}`, "utf8")).toBe("# B note\n");
    expect(fs.existsSync(`${scene.folder}/copy/.ai/repo/README.md`)).toBe(true);
  });

  test("a dry run says what it would copy and makes no folder", () => {
    const scene = usedLayer();
    const result = backUp(scene, "--dry-run");
    expect(result).toMatchObject({ dry_run: true, copied_bytes: 0, unchanged: 0 });
    expect(result["copied"]).toContain(note);
    expect(fs.existsSync(`${scene.folder}/copy`)).toBe(false);
  });

  test.each([
    ["a folder in the repository", "copies"],
    ["the repository itself", "."],
    ["the layer", ".ai/local/state"],
    ["git's folder", ".git/copies"],
    ["a link into the repository", "../into/copies"],
    ["a file", "../file"],
    ["a folder with other files", "../full"],
    ["another checkout's backup", "../others"],
  ])("refuses %s", (_what, target) => {
    const scene = usedLayer();
    fs.symlinkSync(scene.repo, `${scene.folder}/into`);
    fs.writeFileSync(`${scene.folder}/file`, "mine");
    for (const name of ["full", "others"]) fs.mkdirSync(`${scene.folder}/${name}`);
    fs.writeFileSync(`${scene.folder}/full/x`, "mine");
    fs.writeFileSync(`${scene.folder}/others/reeve-backup.json`, '{"version":1,"of":"somebody else"}\n');
    expect(failureOf(scene.reeve(["state", "backup", target, "--json"]))).toMatchObject({ code: "REFUSED" });
    expect(scene.exists("copies")).toBe(false);
    expect(fs.readdirSync(`${scene.folder}/full`)).toEqual(["x"]);
  });

  test("writes neither over nor through a link in the copy", () => {
    const scene = usedLayer();
    backUp(scene);
    fs.mkdirSync(`${scene.folder}/outside`);
    fs.rmSync(`${scene.folder}/copy/.ai/local/state/completed`, { recursive: true });
    fs.symlinkSync(`${scene.folder}/outside`, `${scene.folder}/copy/.ai/local/state/completed`);
    expect(failureOf(scene.reeve(["state", "backup", "../copy", "--json"]))).toMatchObject({ code: "REFUSED" });
    expect(fs.readdirSync(`${scene.folder}/outside`)).toEqual([]);
  });
});
