import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import { nodeSystem } from "./node.ts";
import type { AbsPath } from "./paths.ts";
import type { System } from "./port.ts";

let folder: string;
let system: System;

function at(...parts: string[]): AbsPath {
  return path.join(folder, ...parts) as AbsPath;
}

beforeAll(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve node ")));
  fs.mkdirSync(at("sub/deep"), { recursive: true });
  fs.writeFileSync(at("file"), "läs\n", { mode: 0o640 });
  fs.writeFileSync(at("bytes"), Buffer.from([0xff, 0, 10]));
  for (const [name, target] of [
    ["link", "file"],
    ["to-sub", "sub"],
    ["dangling", "nowhere"],
    ["loop", "loop"],
  ] as const)
    fs.symlinkSync(target, at(name));
  system = nodeSystem({ cwd: folder, env: { PATH: process.env["PATH"], HOME: folder } });
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function refusal(run: () => unknown): ReeveError {
  try {
    run();
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("nodeSystem reading", () => {
  test("readText and readBytes read a file, through a link as well", () => {
    expect(system.readText(at("link"))).toBe("läs\n");
    expect(system.readBytes(at("bytes"))).toEqual(Buffer.from([0xff, 0, 10]));
  });

  test.each(["nowhere", "nowhere/below", "file/below", "dangling", "loop", "loop/below"])(
    "readText, readBytes, list and realPath answer nothing for %s",
    (name) => {
      for (const read of [system.readText, system.readBytes, system.list, system.realPath])
        expect(read(at(name))).toBeUndefined();
    },
  );

  test("readText and readBytes refuse a folder by name, and list a file", () => {
    expect(refusal(() => system.readText(at("sub")))).toMatchObject({
      code: "UNREADABLE",
      message: expect.stringContaining(at("sub")),
      details: { path: at("sub") },
    });
    expect(refusal(() => system.readBytes(at("sub"))).message).toContain("is a folder");
    expect(system.list(at("file"))).toBeUndefined();
  });

  test("list tells names in code-unit order and what each is, links unfollowed", () => {
    fs.mkdirSync(at("listed"));
    for (const name of ["b", "a", "Z", "ä", "a.b", "10", "9"]) fs.writeFileSync(at("listed", name), "");
    fs.symlinkSync("a", at("listed", "c"));
    expect(system.list(at("listed"))?.map((entry) => entry.name)).toEqual(["10", "9", "Z", "a", "a.b", "b", "c", "ä"]);
    expect(system.list(at("listed"))?.find((entry) => entry.name === "c")?.kind).toBe("link");
  });

  test("info tells what a path itself is", () => {
    expect(system.info(at("file"))).toMatchObject({ kind: "file", size: 5, mode: 0o640, uid: process.getuid?.() });
    expect(system.info(at("sub"))?.kind).toBe("directory");
    for (const link of ["link", "to-sub", "dangling", "loop"]) expect(system.info(at(link))?.kind, link).toBe("link");
    expect(system.info("/dev/null" as AbsPath)?.kind).toBe("other");
    expect(system.info(at("nowhere"))).toBeUndefined();
    expect(system.info(at("file/below"))).toBeUndefined();
  });

  test("readLink tells a link's target as it is written, and nothing of what is no link", () => {
    expect([system.readLink(at("dangling")), system.readLink(at("file")), system.readLink(at("nowhere"))]).toEqual([
      "nowhere",
      undefined,
      undefined,
    ]);
  });

  test("realPath resolves every link on the way", () => {
    expect(system.realPath(at("to-sub/deep"))).toBe(at("sub/deep"));
    expect(system.realPath(at("link"))).toBe(at("file"));
  });
});

describe("nodeSystem run", () => {
  test("run answers the output and exit code of a program", () => {
    const script = 'cat; echo "$GIVEN" >&2; exit 3';
    const done = system.run("sh", ["-c", script], { cwd: at("sub"), env: { GIVEN: "yes" }, input: "in" });
    expect([done.exit, done.stdout.toString(), done.stderr]).toEqual([3, "in", "yes\n"]);
  });

  test("run gives a program no input where none is given, and the folder it is told", () => {
    const done = system.run("sh", ["-c", "cat; pwd"], { cwd: at("sub"), env: system.env });
    expect(done.stdout.toString()).toBe(`${at("sub")}\n`);
  });

  test("run answers 128 and the signal's number for a program that was killed", () => {
    expect(system.run("sh", ["-c", "kill -9 $$"], { cwd: at("sub"), env: system.env }).exit).toBe(137);
  });

  test("run keeps a long output whole", () => {
    const done = system.run("sh", ["-c", "head -c 3000000 /dev/zero"], { cwd: at("."), env: system.env });
    expect(done.stdout.length).toBe(3_000_000);
  });

  test("run refuses a program that is not there, and names git's absence apart", () => {
    const nowhere = { cwd: at("."), env: { PATH: at("sub") } };
    expect(refusal(() => system.run("git", ["status"], nowhere)).code).toBe("NO_GIT");
    expect(refusal(() => system.run("no-such-program", [], nowhere))).toMatchObject({
      code: "MISSING_FILE",
      message: expect.stringContaining("no-such-program"),
    });
  });

  test("run does not say that git is not installed where the folder is not there", () => {
    const gone = { cwd: at("gone"), env: system.env };
    expect(refusal(() => system.run("git", ["--version"], gone)).code).not.toBe("NO_GIT");
  });
});

describe("nodeSystem writing", () => {
  test("withScratch lends an empty folder and removes it, also after a failure", () => {
    let lent = "";
    const answer = system.withScratch((scratch) => {
      lent = scratch;
      expect(fs.readdirSync(scratch)).toEqual([]);
      expect(fs.statSync(scratch).mode & 0o077).toBe(0);
      fs.mkdirSync(path.join(scratch, "a/b"), { recursive: true });
      return 5;
    });
    expect([answer, fs.existsSync(lent)]).toEqual([5, false]);
    expect(() =>
      system.withScratch((scratch) => {
        lent = scratch;
        throw new Error("failed");
      }),
    ).toThrow("failed");
    expect(fs.existsSync(lent)).toBe(false);
  });

  test("writeCache makes private folders and a private file, and leaves nothing beside it", () => {
    const file = at("cache/deep/parsed.json");
    system.writeCache(file, "one");
    system.writeCache(file, "two");
    expect(fs.readFileSync(file, "utf8")).toBe("two");
    expect(fs.readdirSync(path.dirname(file))).toEqual(["parsed.json"]);
    expect([fs.statSync(file).mode & 0o777, fs.statSync(path.dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test.each([
    ["a file stands where a folder belongs", "file/cache/parsed.json"],
    ["a file stands where its folder belongs", "file/parsed.json"],
    ["a folder stands in its place", "sub"],
    ["a link leads round and round", "loop/parsed.json"],
  ])("writeCache is silent where %s", (_what, name) => {
    const before = fs.readdirSync(folder).sort();
    expect(() => system.writeCache(at(name), "text")).not.toThrow();
    expect(fs.readdirSync(folder).sort()).toEqual(before);
  });

  test("canWrite answers of a folder that is there and of none", () => {
    expect([system.canWrite(at("sub")), system.canWrite(at("nowhere"))]).toEqual([true, false]);
  });

  test("randomHex answers as many lower-case digits as it is asked for, each time others", () => {
    for (const digits of [1, 4, 16, 33]) expect(system.randomHex(digits)).toMatch(new RegExp(`^[0-9a-f]{${digits}}$`));
    expect(system.randomHex(16)).not.toBe(system.randomHex(16));
  });

  test("sha256 is that of the bytes, and of a text's UTF-8", () => {
    expect(system.sha256("ü")).toBe(system.sha256(Buffer.from("ü")));
    expect(system.sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});
