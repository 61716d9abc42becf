import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { makeScene, type Scene } from "../scene.ts";
import { buildShim, canFault, keepCopy } from "./fault.ts";

/** What init makes: the shared half of the layer, the lines git reads and the hooks, by path and content. */
function readLayer(scene: Scene): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const root of [".ai", ".git/hooks"]) {
    if (!scene.exists(root)) continue;
    for (const name of fs.readdirSync(scene.at(root), { recursive: true, encoding: "utf8" })) {
      const file = path.join(root, name);
      const info = fs.lstatSync(scene.at(file));
      if (name.startsWith("local") || name.endsWith(".sample") || !info.isFile()) continue;
      found[file] = `${(info.mode & 0o777).toString(8)} ${scene.read(file).replace(/^created.*$/m, "created")}`;
    }
  }
  for (const file of [".gitignore", ".gitattributes"]) found[file] = scene.exists(file) ? scene.read(file) : "";
  return found;
}

const init = ["init", "--hooks"];
/** Init makes one file after the other in the same few calls; a stride that is no multiple of their number meets each kind. */
const stride = 11;

describe.skipIf(!canFault)("reeve init", () => {
  test("killed at its system calls is whole after it is called again", { timeout: 600_000 }, () => {
    const scene = makeScene();
    const restore = keepCopy(scene);
    const shim = buildShim(scene);
    const calls = shim.trace((env) => expect(scene.reeve(init, { env }).exit).toBe(0));
    const whole = readLayer(scene);
    const exits = new Set<number>();
    const problems: string[] = [];
    const chosen = calls.map((_, index) => index + 1).filter((at) => at % stride === 0 || at > calls.length - 4);
    for (const at of chosen) {
      const call = calls[at - 1];
      const where = `kill at call ${at}, ${call?.name} ${call?.path}`;
      restore();
      expect(scene.reeve(init, { env: shim.at(at, "kill") }).exit, where).toBe(137);
      const again = scene.reeve(init);
      exits.add(again.exit);
      const missing = Object.keys(whole).filter((name) => readLayer(scene)[name] !== whole[name]);
      const extra = Object.keys(readLayer(scene)).filter((name) => whole[name] === undefined);
      if (![0, 15].includes(again.exit) || missing.length + extra.length > 0) {
        problems.push(
          `${where}: then exit ${again.exit}: ${again.stdout}${again.stderr}, not as it should be: ${[...missing, ...extra]}`,
        );
      }
    }
    expect(problems).toEqual([]);
    expect([...exits].sort()).toEqual([0, 15]);
  });
});

describe("reeve init", () => {
  test("called twice at once makes one layer: one answers 0, the other 15", { timeout: 600_000 }, async () => {
    for (let round = 0; round < 3; round += 1) {
      const scene = makeScene();
      const answers = await Promise.all([scene.begin(init).ended, scene.begin(init).ended]);
      const said = answers.map(({ stdout, stderr }) => stdout + stderr).join("\n");
      expect(answers.map(({ exit }) => exit).sort(), said).toEqual([0, 15]);
      expect(scene.git(["ls-files", "-o", "--exclude-standard"])).not.toContain(".ai/local");
      expect(scene.reeve(["decision", "add", "d", "--why", "w"]).exit).toBe(0);
      expect(scene.ledger()).toHaveLength(1);
      const block = scene.read(".git/hooks/pre-commit").match(/reeve:begin|>>> reeve|reeve begin/g) ?? [];
      expect(block.length).toBeLessThan(2);
    }
  });
});
