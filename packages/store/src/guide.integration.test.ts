import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ended } from "./testing/child.ts";
import { neutralEnvironment, temporaryFolder } from "./testing/folder.ts";
import { installPackage, packageFolder, runIn } from "./testing/package.ts";

interface Block {
  /** `js`, `console`, … */
  readonly language: string;
  /** The name it is to be saved under, where the page gives one. */
  readonly file: string | undefined;
  readonly text: string;
}

/** The fenced blocks of a page. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(packageFolder, page), "utf8");
  return [...text.matchAll(/^```(\w+)(?: file=(\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", file, content = ""]) => ({ language, file, text: content }),
  );
}

interface Step {
  readonly command: string;
  readonly output: string;
}

function stepsOf({ text }: Block): Step[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const end = step.indexOf("\n");
      return { command: step.slice(0, end), output: step.slice(end + 1) };
    });
}

/** A project with the installed package and the files of a page. */
function projectOf(blocks: readonly Block[]): string {
  const project = installPackage();
  for (const { file, text } of blocks) if (file !== undefined) writeFileSync(join(project, file), text);
  return project;
}

describe.each(["../../docs/guide/store.md", "../../docs/guide/state-table.md", "README.md"])("%s", (page) => {
  const blocks = blocksOf(page);

  test("shows a session that goes as it is shown, with the package as it would be published", {
    timeout: 120_000,
  }, () => {
    const project = projectOf(blocks);
    const sessions = blocks.filter(({ language }) => language === "console");
    expect(sessions.length).toBeGreaterThan(0);
    const steps = sessions.flatMap(stepsOf);
    expect(steps.length).toBeGreaterThan(1);
    for (const { command, output } of steps) {
      expect(`$ ${command}\n${runIn(project, "sh", ["-c", `${command} 2>&1`])}`).toBe(`$ ${command}\n${output}`);
    }
  });
});

describe("the guide's job queue", () => {
  const blocks = blocksOf("../../docs/guide/store.md");

  test("has every verb in about forty lines of code", () => {
    const code = blocks.find(({ file }) => file === "queue.mjs")?.text ?? "";
    expect(code.split("\n").filter((line) => line.trim() !== "").length).toBeLessThan(60);
    for (const call of ["put", "get", "remove", "watch", "compact", "problems", "close"])
      expect(code).toContain(`jobs.${call}`);
  });

  test("follows what another process changes, until it is interrupted", { timeout: 60_000 }, async () => {
    const project = projectOf(blocks);
    const follower = spawn(process.execPath, ["queue.mjs", "follow"], {
      cwd: project,
      env: neutralEnvironment(temporaryFolder()),
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => {
      follower.kill("SIGKILL");
    });
    let seen = "";
    follower.stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString("utf8");
    });
    const queue = (...args: string[]): string => runIn(project, process.execPath, ["queue.mjs", ...args]);
    // It tells what is changed once it watches; when that is only it can tell.
    let count = 0;
    while (!seen.includes("open\n")) {
      count += 1;
      queue("add", `job-${count}`);
      await new Promise(setImmediate);
    }
    queue("done", `job-${count}`);
    while (!seen.includes(`job-${count} removed\n`)) await new Promise(setImmediate);
    follower.kill("SIGINT");
    expect(await ended(follower)).toEqual({ exit: 0, signal: null });
    expect(seen).toMatch(/^(?:job-\d+ open\n)+job-\d+ removed\n$/);
  });

  test("gives each job to one of several workers", { timeout: 60_000 }, async () => {
    const project = projectOf(blocks);
    const jobs = ["a", "b", "c", "d", "e", "f"];
    for (const job of jobs) runIn(project, process.execPath, ["queue.mjs", "add", job]);
    const takers = jobs.map(async () => {
      const env = neutralEnvironment(temporaryFolder());
      const taker = spawn(process.execPath, ["queue.mjs", "take"], {
        cwd: project,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      let taken = "";
      taker.stdout.on("data", (chunk: Buffer) => {
        taken += chunk.toString("utf8");
      });
      await new Promise((closed) => taker.once("close", closed));
      return taken.trim();
    });
    expect((await Promise.all(takers)).sort()).toEqual(jobs);
  });
});
