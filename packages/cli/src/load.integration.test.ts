import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { buildSync } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { codeCacheFolder, readCodeCache, writeCodeCache } from "./code-cache.ts";
import { openChunks } from "./load.ts";

let built: string;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  built = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve loader ")));
  const outfile = path.join(built, "load.cjs");
  const entry = path.join(import.meta.dirname, "load.ts");
  buildSync({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "cjs" });
});
afterAll(() => fs.rmSync(built, { recursive: true, force: true }));

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "reeve chunks ")));
  env = { HOME: path.join(folder, "home"), XDG_CACHE_HOME: path.join(folder, "home/cache") };
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A chunk as the build makes it: one function of what a CommonJS module gets. */
function chunkOf(code: string): string {
  return `(function(exports,require,module){${code}\n})`;
}

function cache(): string {
  return codeCacheFolder({ ...env, REEVE_CACHE: undefined }) ?? "";
}

function chunk(name: string, answer: string): string {
  fs.writeFileSync(path.join(folder, name), chunkOf(`exports.say = () => ${JSON.stringify(answer)};`));
  return name;
}

/** Loads a chunk in a process of its own, for V8 remembers within one what it compiled, and keeps its code. */
function say(name: string): string {
  const script =
    "const chunks = require(process.argv[1]).openChunks(process.argv[2], process.env);" +
    "console.log(chunks.load(process.argv[3]).say()); chunks.keep();";
  const done = spawnSync(process.execPath, ["-e", script, path.join(built, "load.cjs"), folder, name], {
    env,
    encoding: "utf8",
  });
  expect(done.stderr).toBe("");
  return done.stdout.trim();
}

/** Puts the code of a source that says "bad" in the place of another's of the same length. */
function plant(name: string): Buffer {
  say(name);
  say(chunk("bad.js", "bad"));
  const code = fs.readFileSync(path.join(cache(), "bad.js"));
  fs.writeFileSync(path.join(cache(), name), code, { mode: 0o600 });
  return code;
}

describe("codeCacheFolder", () => {
  test("codeCacheFolder lies in the user's cache folder, by Node version and architecture", () => {
    const ending = path.join("reeve", "code", `${process.version}-${process.arch}`);
    expect(codeCacheFolder({ XDG_CACHE_HOME: "/c", HOME: "/h" })).toBe(path.join("/c", ending));
    expect(codeCacheFolder({ HOME: "/h" })).toBe(path.join("/h/.cache", ending));
    expect(codeCacheFolder({ XDG_CACHE_HOME: "relative", HOME: "/h" })).toBe(path.join("/h/.cache", ending));
    expect(codeCacheFolder({ XDG_CACHE_HOME: "", HOME: "/h" })).toBe(path.join("/h/.cache", ending));
  });

  test("codeCacheFolder is none where caches are off, and where there is no home", () => {
    expect(codeCacheFolder({ HOME: "/h", REEVE_CACHE: "off" })).toBeUndefined();
    expect(codeCacheFolder({})).toBeUndefined();
    expect(codeCacheFolder({ HOME: "" })).toBeUndefined();
  });
});

describe("openChunks", () => {
  test("openChunks runs a chunk, and the chunks it asks for, each once", () => {
    chunk("b.js", "b");
    fs.writeFileSync(
      path.join(folder, "a.js"),
      chunkOf(
        'globalThis.reeveLoads = (globalThis.reeveLoads ?? 0) + 1; const b = require("./b.js"); exports.say = () => "a" + b.say(); exports.same = require("./a.js") === exports;',
      ),
    );
    const chunks = openChunks(folder, env);
    const first = chunks.load("a.js") as { say: () => string; same: boolean };
    expect([first.say(), first.same]).toEqual(["ab", true]);
    expect(chunks.load("a.js")).toBe(first);
    expect(Reflect.get(globalThis, "reeveLoads")).toBe(1);
    Reflect.deleteProperty(globalThis, "reeveLoads");
  });

  test("openChunks keeps the code of what was loaded, privately", () => {
    const name = chunk("a-1.js", "one");
    expect(say(name)).toBe("one");
    expect(fs.readdirSync(cache())).toEqual([name]);
    const mode = (where: string): number => fs.statSync(where).mode & 0o777;
    expect([mode(cache()), mode(path.join(cache(), name))]).toEqual([0o700, 0o600]);
    const before = fs.statSync(path.join(cache(), name)).ino;
    expect(say(name)).toBe("one");
    expect(fs.statSync(path.join(cache(), name)).ino).toBe(before);
  });

  test("openChunks takes the code that was kept under the chunk's name", () => {
    const name = chunk("a-1.js", "one");
    plant(name);
    expect(say(name)).toBe("bad");
  });

  test("openChunks never runs the code of another source of the same length, for its name is another", () => {
    const [one, two] = [chunk("a-1111.js", "one"), chunk("a-2222.js", "two")];
    for (let time = 0; time < 2; time += 1) expect([say(one), say(two)]).toEqual(["one", "two"]);
  });

  test("openChunks compiles again over code that is cut, empty, none or of another source, and replaces it", () => {
    const [name, other] = [chunk("a-1.js", "one"), chunk("b-1.js", "a longer answer")];
    say(name);
    say(other);
    const file = path.join(cache(), name);
    const whole = fs.readFileSync(file);
    const foreign = fs.readFileSync(path.join(cache(), other));
    for (const bytes of [whole.subarray(0, 100), Buffer.alloc(0), Buffer.from("no code"), foreign]) {
      fs.writeFileSync(file, bytes);
      expect(say(name)).toBe("one");
      expect(fs.readFileSync(file).equals(bytes)).toBe(false);
    }
  });

  test("openChunks reads and writes nothing where caches are off", () => {
    const name = chunk("a-1.js", "one");
    const planted = plant(name);
    env = { ...env, REEVE_CACHE: "off" };
    expect(say(name)).toBe("one");
    expect(say(chunk("b-1.js", "two"))).toBe("two");
    expect(fs.readFileSync(path.join(cache(), name)).equals(planted)).toBe(true);
    expect(fs.readdirSync(cache()).sort()).toEqual([name, "bad.js"].sort());
  });

  test.each([0o755, 0o770, 0o701])("openChunks neither takes from nor writes to a folder of mode %o", (mode) => {
    const name = chunk("a-1.js", "one");
    const planted = plant(name);
    fs.chmodSync(cache(), mode);
    expect(readCodeCache(cache(), name)).toBeUndefined();
    expect([say(name), say(chunk("b-1.js", "two"))]).toEqual(["one", "two"]);
    expect(fs.readFileSync(path.join(cache(), name)).equals(planted)).toBe(true);
    expect(fs.existsSync(path.join(cache(), "b-1.js"))).toBe(false);
  });

  test("openChunks neither takes from nor writes to a folder behind a link", () => {
    const name = chunk("a-1.js", "one");
    const planted = plant(name);
    const elsewhere = path.join(folder, "elsewhere");
    fs.renameSync(cache(), elsewhere);
    fs.symlinkSync(elsewhere, cache());
    expect(readCodeCache(cache(), name)).toBeUndefined();
    expect([say(name), say(chunk("b-1.js", "two"))]).toEqual(["one", "two"]);
    expect(fs.readFileSync(path.join(elsewhere, name)).equals(planted)).toBe(true);
    expect(fs.existsSync(path.join(elsewhere, "b-1.js"))).toBe(false);
  });

  test.each(["home", "home/cache", "home/cache/reeve/code"])(
    "openChunks does without a cache where a file stands at %s",
    (at) => {
      const name = chunk("a-1.js", "one");
      fs.mkdirSync(path.dirname(path.join(folder, at)), { recursive: true });
      fs.writeFileSync(path.join(folder, at), "");
      expect(say(name)).toBe("one");
      expect(fs.readFileSync(path.join(folder, at), "utf8")).toBe("");
    },
  );
});

describe("writeCodeCache", () => {
  test("writeCodeCache takes old code out when there is a lot, the newest last", () => {
    for (let count = 0; count < 41; count += 1) {
      writeCodeCache(cache(), `chunk-${count}.js`, Buffer.from("x"));
      const file = path.join(cache(), `chunk-${count}.js`);
      if (fs.existsSync(file) && count < 40) fs.utimesSync(file, 1_000 + count, 1_000 + count);
    }
    const left = fs.readdirSync(cache());
    expect(left.length).toBeLessThanOrEqual(40);
    expect(left).toContain("chunk-40.js");
    expect(left).not.toContain("chunk-0.js");
    expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
