import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { registry } from "@reeve/commands/registry.ts";
import { describe, expect, test } from "vitest";

const bin = "packages/cli/bin/reeve.cjs";
const dist = "packages/cli/dist";

/** Modules no hook path may load, as a minified bundle names them, and what marks the YAML library. */
const forbidden = /require\("(?:node:)?(?:net|tls|http|https|http2|readline|worker_threads|inspector|dns|dgram)"\)/;
const lazily = /^(?:decode|run|archive|encryption|sweep)-/;
/** The one with the YAML library. */
const yaml = /^decode-/;

function chunksNamed(text: string): readonly string[] {
  return [...text.matchAll(/[\w-]+-[0-9a-f]{16}\.cjs/g)].map((match) => match[0]);
}

/** What a command's chunk loads at once: itself, and every chunk it names but the lazy ones. */
function loadedBy(chunk: string): readonly string[] {
  const seen = new Set<string>();
  const queue = [chunk];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const text = fs.readFileSync(path.join(dist, "chunks", next), "utf8");
    queue.push(...chunksNamed(text).filter((name) => !lazily.test(name)));
  }
  return [...seen];
}

const chunks = fs.readdirSync(path.join(dist, "chunks"));

/** The chunk of each command, from the table the build puts into the entry. */
function readChunkTable(): ReadonlyMap<string, string> {
  const entry = fs.readFileSync(path.join(dist, "reeve.cjs"), "utf8");
  const rows = entry.matchAll(/(?:"([^"]*)"|(\w+)):"([\w-]+-[0-9a-f]{16}\.cjs)"/g);
  return new Map([...rows].map((row) => [row[1] ?? row[2] ?? "", row[3] ?? ""]));
}

const table = readChunkTable();

function chunkOf(command: string): string {
  const found = table.get(command);
  if (found === undefined) throw new Error(`'${command}' has no chunk`);
  return found;
}

describe("the program", () => {
  test("is executable, a shell script and JavaScript in one", () => {
    expect(fs.statSync(bin).mode & 0o111).toBe(0o111);
    const text = fs.readFileSync(bin, "utf8");
    const script = text.slice(0, text.indexOf("*/;"));
    expect(script).toMatch(/\nexit \$\?\n$/);
    for (const shell of ["sh", "bash"])
      expect(spawnSync(shell, ["-n"], { input: script, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    expect(spawnSync(process.execPath, ["--check", bin], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
    const alone = spawnSync(process.execPath, [bin, "version"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    expect(alone).toMatchObject({ status: 0, stderr: "" });
  });

  test("has a chunk for every command and for unknown words, and none that nothing names", () => {
    expect([...table.keys()].sort()).toEqual([...registry.map((entry) => entry.name), "?"].sort());
    const reached = new Set([...table.values()].flatMap((name) => [...loadedBy(name)]));
    const lazy = [...reached].flatMap((name) => chunksNamed(fs.readFileSync(path.join(dist, "chunks", name), "utf8")));
    expect(chunks.filter((name) => !reached.has(name) && !lazy.includes(name))).toEqual([]);
  });

  test("names a chunk by what is in it", async () => {
    const { createHash } = await import("node:crypto");
    for (const name of chunks) {
      const hash = createHash("sha256")
        .update(fs.readFileSync(path.join(dist, "chunks", name)))
        .digest("hex");
      expect(name).toContain(hash.slice(0, 16));
    }
  });
});

describe("the hook path", () => {
  test.each(["doctor", "check", "finish", "status", "", "version"])(
    "reeve %s loads no network, terminal or YAML code",
    (command) => {
      for (const name of loadedBy(chunkOf(command))) {
        const text = fs.readFileSync(path.join(dist, "chunks", name), "utf8");
        expect(forbidden.exec(text)?.[0], name).toBeUndefined();
        expect(text.includes("YAMLParseError"), name).toBe(false);
      }
    },
  );

  test("the lazy chunk is the one with the YAML code, so that the search above can find it", () => {
    const lazy = chunks.filter((name) => yaml.test(name));
    expect(lazy).toHaveLength(1);
    expect(fs.readFileSync(path.join(dist, "chunks", lazy[0] ?? ""), "utf8")).toContain("YAMLParseError");
    expect(forbidden.test('x=require("node:net")')).toBe(true);
  });

  test.each(["doctor", "check", "finish", "status", ""])(
    "reeve %s loads slow builtin modules only where they are used",
    (command) => {
      const slow = /require\("(?:node:)?(?:crypto|child_process|stream|fs\/promises)"\)/;
      for (const name of loadedBy(chunkOf(command)))
        expect(slow.exec(fs.readFileSync(path.join(dist, "chunks", name), "utf8"))?.[0], name).toBeUndefined();
    },
  );
});
