import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, foundIn, onlyFailure } from "../answers.ts";
import { makeScene, type Scene } from "../scene.ts";

function begin(): Scene {
  const scene = makeScene({ layer: true });
  expect(scene.reeve(["start", "work", "--scope", "src"]).exit).toBe(0);
  return scene;
}

function verify(scene: Scene, command: string): ReturnType<Scene["reeve"]> {
  return scene.reeve(["finish", "--outcome", "completed", "--verify-command", command, "--json"]);
}

function isActive(scene: Scene): boolean {
  return /^outcome: active$/m.test(scene.read(".ai/local/state/current.yaml"));
}

function isRunning(process: number): boolean {
  const stat = `/proc/${process}/stat`;
  return fs.existsSync(stat) && !/\) [ZX] /.test(fs.readFileSync(stat, "utf8"));
}

async function untilThere(file: string): Promise<void> {
  while (!fs.existsSync(file) || !fs.readFileSync(file, "utf8").endsWith("\n"))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("finish --verify-command", () => {
  test("runs in the repository's root, its output on standard error, its exit kept", () => {
    const scene = begin();
    const command = "pwd; echo problem >&2; exit 3";
    const said = scene.reeve(["finish", "--outcome", "completed", "--verify-command", command, "--json"], {
      cwd: scene.at("src/auth"),
    });
    expect(said.exit).toBe(10);
    expect(said.stderr).toContain(`${scene.repo}\n`);
    expect(said.stderr).toContain("problem\n");
    expect(onlyFailure(said)).toMatchObject({ category: "verification", subject: command });
    expect(scene.ledger().at(-1)).toMatchObject({ event: "task.refused", verify: { command, exit: 3 } });
  });

  test("a command that does not exist fails with 127 and says so", () => {
    const scene = begin();
    const failed = onlyFailure(verify(scene, "no-such-program --run"));
    expect(failed.message).toMatch(/127.*no such command/);
    expect(scene.ledger().at(-1)).toMatchObject({ verify: { exit: 127 } });
    expect(isActive(scene)).toBe(true);
  });

  test("a command that hangs is stopped at the policy's limit, with all it started", () => {
    const scene = begin();
    const policy = scene.read(".ai/repo/policy.yaml");
    scene.write(".ai/repo/policy.yaml", policy.replace("time_limit: 30m", "time_limit: 1s"));
    const command = `sh -c 'echo $$ > ../child; exec sleep 600' & wait`;
    const failed = onlyFailure(verify(scene, command));
    expect(failed.message).toContain("time limit");
    const child = Number(scene.read("../child"));
    expect(child).toBeGreaterThan(1);
    expect(isRunning(child)).toBe(false);
    expect(scene.ledger().at(-1)).toMatchObject({ verify: { exit: expect.toSatisfy((exit: number) => exit > 128) } });
    expect(isActive(scene)).toBe(true);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "an interruption by %s ends the command and keeps the task active",
    async (signal) => {
      const scene = begin();
      const command = "echo $$ > ../running; exec sleep 600";
      const begun = scene.begin(["finish", "--outcome", "completed", "--verify-command", command]);
      await untilThere(scene.at("../running"));
      begun.kill(signal);
      const answer = await begun.ended;
      expect(answer.exit, answer.stderr).toBe(10);
      expect(isActive(scene)).toBe(true);
      const child = Number(scene.read("../running"));
      expect(child).toBeGreaterThan(1);
      expect(isRunning(child)).toBe(false);
      expect(scene.reeve(["check"]).exit).toBe(0);
    },
  );

  test("a command that ends by a signal keeps 128 and the signal", () => {
    const scene = begin();
    expect(onlyFailure(verify(scene, "kill -TERM $$")).message).toContain("143");
    expect(scene.ledger().at(-1)).toMatchObject({ verify: { exit: 143 } });
  });

  test("a command that changes the tree proves nothing", () => {
    const scene = begin();
    const failed = onlyFailure(verify(scene, "echo more > src/generated.ts"));
    expect(failed.message).toContain("changed while it ran");
    expect(isActive(scene)).toBe(true);
    expect(verify(scene, "echo more > src/generated.ts").exit).toBe(0);
  });

  test("may touch what git ignores", () => {
    const scene = begin();
    scene.write(".gitignore", "/.ai/local\nbuild/\n");
    const said = verify(scene, "mkdir -p build && date > build/out");
    expect(said.exit, said.stdout).toBe(0);
  });

  test("leaves index and stash as they were", () => {
    const scene = begin();
    scene.write("src/staged.ts", "x");
    scene.git(["add", "src/staged.ts"]);
    scene.write("src/new.ts", "y");
    const before = scene.git(["status", "--porcelain"]);
    expect(verify(scene, "true").exit).toBe(0);
    expect(scene.git(["status", "--porcelain"])).toBe(before);
  });

  test("does not take the program's standard input or its prefetch variables", () => {
    const scene = begin();
    const said = scene.reeve(
      ["finish", "--outcome", "completed", "--verify-command", "cat; env | grep -c REEVE_PREFETCH; true"],
      {
        input: "typed\n",
      },
    );
    expect(said.exit, said.stdout).toBe(0);
    expect(said.stderr).not.toContain("typed");
    expect(said.stderr).toMatch(/^0$/m);
  });

  test.each(["", "  "])("an empty command proves nothing: %j", (command) => {
    const scene = begin();
    expect(failureOf(verify(scene, command))).toMatchObject({ code: "USAGE", exit: 2 });
    expect(scene.ledger()).toHaveLength(1);
  });

  test("recorded tier is self-chosen", () => {
    const scene = begin();
    expect(foundIn(verify(scene, "true")).find((line) => line.category === "verification")?.message).toContain(
      "self-chosen",
    );
    expect(scene.ledger().at(-1)).toMatchObject({ verify: { tier: "self-chosen" } });
  });
});
