import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Blobs, openBlobs } from "./blobs.ts";
import { withLock } from "./lock.ts";
import { buildProgram, runProgram } from "./testing/child.ts";
import { memoryFolder, modeOf, temporaryFolder, treeOf } from "./testing/folder.ts";

interface Scene {
  readonly path: string;
  readonly blobs: Blobs;
  /** Where the blob of a hash lies. */
  at(hash: string): string;
}

function openScene(): Scene {
  const path = join(temporaryFolder(), "blobs");
  return { path, blobs: openBlobs({ path }), at: (hash) => join(path, hash.slice(0, 2), hash) };
}

const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function* piecesOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield piece;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** As if it had been put long ago. */
function age(path: string): void {
  utimesSync(path, 1_000_000, 1_000_000);
}

/** Where a process can ask what it has open. */
const openFiles = "/proc/self/fd";

function isOpen(path: string): boolean {
  return readdirSync(openFiles).some((file) => {
    try {
      return readlinkSync(join(openFiles, file)) === path;
    } catch {
      return false;
    }
  });
}

describe("Blobs.put", () => {
  test("keeps bytes under the hash of what was written, in a folder of its first two digits", async () => {
    const { path, blobs, at } = openScene();
    const hash = sha256("a\n");
    expect(await blobs.put("a\n")).toEqual({ hash, size: 2, added: true });
    expect(treeOf(path)).toEqual({ [hash.slice(0, 2)]: "/", [`${hash.slice(0, 2)}/${hash}`]: "a\n" });
    expect(statSync(at(hash)).nlink).toBe(1);
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["CRLF and no newline at the end", Buffer.from("a\r\nb\r\nc")],
    ["a byte order mark, NUL and invalid UTF-8", Buffer.from([0xef, 0xbb, 0xbf, 0, 0xff, 0xc0, 0x80])],
    ["more than one piece", randomBytes(700_000)],
  ])("keeps %s verbatim, from bytes and from a stream alike", async (_, bytes) => {
    const { blobs, at } = openScene();
    const hash = sha256(bytes);
    expect(await blobs.put(piecesOf(bytes.subarray(0, 3), bytes.subarray(3)))).toEqual({
      hash,
      size: bytes.length,
      added: true,
    });
    expect(readFileSync(at(hash)).equals(bytes)).toBe(true);
    expect(blobs.get(hash)?.equals(bytes)).toBe(true);
    expect(Buffer.concat(await collect(blobs.stream(hash) ?? piecesOf())).equals(bytes)).toBe(true);
    expect(await blobs.put(bytes)).toEqual({ hash, size: bytes.length, added: false });
  });

  test("takes a stream of Node's and one of the web's", async () => {
    const { path, blobs } = openScene();
    const source = join(dirname(path), "source");
    writeFileSync(source, "streamed");
    const web = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(Buffer.from("stre"));
        controller.enqueue(Buffer.from("amed"));
        controller.close();
      },
    });
    expect(await blobs.put(createReadStream(source))).toMatchObject({ hash: sha256("streamed"), added: true });
    expect(await blobs.put(web)).toMatchObject({ hash: sha256("streamed"), added: false });
  });

  test("hashes the bytes it writes, whatever the caller does with its buffer afterwards", async () => {
    const { blobs } = openScene();
    const buffer = Buffer.from("one");
    async function* reused(): AsyncGenerator<Uint8Array> {
      yield buffer;
      buffer.write("two");
      yield buffer;
    }
    const { hash } = await blobs.put(reused());
    expect(hash).toBe(sha256("onetwo"));
    expect(blobs.get(hash)?.toString()).toBe("onetwo");
    const bytes = Buffer.from("before");
    const put = blobs.put(bytes);
    bytes.fill(0);
    expect((await put).hash).toBe(sha256("before"));
    expect(blobs.get(sha256("before"))?.toString()).toBe("before");
  });

  test("writes nothing again, and renews the time of what is there", async () => {
    const { path, blobs, at } = openScene();
    const { hash } = await blobs.put("same");
    age(at(hash));
    const before = lstatSync(at(hash), { bigint: true });
    for (const content of ["same", Buffer.from("same"), piecesOf(Buffer.from("same"))]) {
      expect(await blobs.put(content)).toEqual({ hash, size: 4, added: false });
    }
    const after = lstatSync(at(hash), { bigint: true });
    expect(after.ino).toBe(before.ino);
    expect(after.mtimeMs).toBeGreaterThan(before.mtimeMs);
    expect(readdirSync(path)).toEqual([hash.slice(0, 2)]);
  });

  test("gives twelve callers at once one blob, added once", async () => {
    const { path, blobs } = openScene();
    const other = openBlobs({ path });
    const puts = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? blobs : other).put(piecesOf(Buffer.from("x"))),
    );
    const results = await Promise.all(puts);
    expect(results.filter(({ added }) => added)).toHaveLength(1);
    expect(readdirSync(path)).toEqual([sha256("x").slice(0, 2)]);
  });

  test.each([
    ["shorter", "sam"],
    ["of the same size", "SAME"],
  ])("moves a damaged blob aside when it is %s, and keeps the content", async (_, damage) => {
    const { blobs, at } = openScene();
    const { hash } = await blobs.put("same");
    for (const content of ["same", piecesOf(Buffer.from("same"))]) {
      writeFileSync(at(hash), damage);
      const { setAside, ...result } = await blobs.put(content);
      expect(result).toEqual({ hash, size: 4, added: true });
      expect(setAside).toMatch(new RegExp(`^${at(hash)}\\.corrupt-\\d{8}T\\d{6}\\.\\d{3}Z(?:-\\d+)?$`));
      expect(readFileSync(setAside ?? "", "utf8")).toBe(damage);
      expect(blobs.get(hash)?.toString()).toBe("same");
    }
  });

  test("passes through what the stream throws, and leaves nothing", async () => {
    const { path, blobs } = openScene();
    const failure = new Error("the source broke");
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      expect(readdirSync(path)).toEqual([expect.stringMatching(/^\.blob\.\d+\.[0-9a-z]+\.tmp$/)]);
      expect([...blobs.hashes()]).toEqual([]);
      throw failure;
    }
    await expect(blobs.put(broken())).rejects.toBe(failure);
    expect(readdirSync(path)).toEqual([]);
  });

  test("refuses what is no bytes, and leaves nothing", async () => {
    const { path, blobs } = openScene();
    const texts = (async function* () {
      yield Buffer.from("a");
      yield "b";
    })();
    for (const content of [texts, 7, null, undefined, { length: 1 }, [1]]) {
      await expect(blobs.put(content as Uint8Array)).rejects.toMatchObject({ code: "BAD_VALUE", path });
    }
    expect(readdirSync(path)).toEqual([]);
  });

  test("gives files the mode and folders the right to enter, whatever the umask", async () => {
    for (const [mode, folder] of [
      [0o600, 0o700],
      [0o640, 0o750],
      [0o444, 0o755],
    ] as const) {
      const path = join(temporaryFolder(), "blobs");
      const { hash } = await openBlobs({ path, mode }).put("x");
      const kept = join(path, hash.slice(0, 2));
      expect([modeOf(join(kept, hash)), modeOf(kept), modeOf(path)]).toEqual([mode, folder, folder]);
    }
    const { path, blobs, at } = openScene();
    expect(modeOf(at((await blobs.put("x")).hash))).toBe(0o644 & ~process.umask());
    expect(modeOf(path)).toBe(0o755 & ~process.umask());
  });

  test("reaches its folder through a link, and asks for none beside it", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    const { hash } = await openBlobs({ path: `${join(folder, "link")}/` }).put("x");
    expect(readdirSync(folder).sort()).toEqual(["link", "real"]);
    expect(
      openBlobs({ path: join(folder, "real") })
        .get(hash)
        ?.toString(),
    ).toBe("x");
  });
});

describe("Blobs.get", () => {
  test("answers undefined for a blob that is not there, be the folder missing or not", async () => {
    const { path, blobs } = openScene();
    const hash = sha256("x");
    expect([blobs.get(hash), blobs.stream(hash), blobs.has(hash)]).toEqual([undefined, undefined, false]);
    expect([...blobs.hashes()]).toEqual([]);
    expect([await blobs.remove(hash), await collect(blobs.verify())]).toEqual([false, []]);
    expect(await blobs.sweep(new Set())).toEqual({ removed: [], bytes: 0, temporaries: 0 });
    expect(readdirSync(dirname(path))).toEqual([]);
    mkdirSync(join(path, hash.slice(0, 2)), { recursive: true });
    expect([blobs.get(hash), blobs.stream(hash), blobs.has(hash)]).toEqual([undefined, undefined, false]);
  });

  test.each([
    ["a flipped bit", Buffer.from("Content")],
    ["a missing end", Buffer.from("conten")],
    ["more at its end", Buffer.from("content\n")],
    ["nothing", Buffer.alloc(0)],
  ])("throws DAMAGED, naming path and hash, for a blob with %s", async (_, bytes) => {
    const { blobs, at } = openScene();
    const { hash } = await blobs.put("content");
    writeFileSync(at(hash), bytes);
    const damaged = { code: "DAMAGED", path: at(hash), details: { hash }, message: expect.stringContaining(hash) };
    expect(() => blobs.get(hash)).toThrow(expect.objectContaining(damaged));
    const given: Buffer[] = [];
    const take = async (): Promise<void> => {
      for await (const piece of blobs.stream(hash) ?? []) given.push(piece);
    };
    await expect(take()).rejects.toMatchObject(damaged);
    expect(given).toEqual([]);
    expect(blobs.has(hash)).toBe(true);
  });
});

describe("Blobs.stream", () => {
  test("gives pieces of bounded size, and tells when the content changes under its reader", async () => {
    const { blobs, at } = openScene();
    const bytes = randomBytes(1_000_000);
    const { hash } = await blobs.put(bytes);
    const pieces = await collect(blobs.stream(hash) ?? piecesOf());
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(262_144);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    const take = async (): Promise<void> => {
      for await (const _ of blobs.stream(hash) ?? []) writeFileSync(at(hash), bytes.subarray(0, 500_000));
    };
    await expect(take()).rejects.toMatchObject({ code: "DAMAGED", path: at(hash) });
  });

  test.skipIf(!existsSync(openFiles))("lets the file go when its reader leaves early or never begins", async () => {
    const { blobs } = openScene();
    const { hash } = await blobs.put(randomBytes(1_000_000));
    const open = (): number => readdirSync(openFiles).length;
    const before = open();
    for (let turn = 0; turn < 20; turn += 1) {
      blobs.stream(hash);
      for await (const _ of blobs.stream(hash) ?? []) break;
    }
    expect(open()).toBe(before);
  });

  test("is NOT_FOUND when the blob went before the first piece was asked for", async () => {
    const { blobs, at } = openScene();
    const { hash } = await blobs.put("x");
    const stream = blobs.stream(hash);
    rmSync(at(hash));
    await expect(stream?.next()).rejects.toMatchObject({ code: "NOT_FOUND", path: at(hash) });
  });
});

describe("Blobs", () => {
  test("refuses what is no hash in every function, and reaches nothing outside", async () => {
    const { path, blobs } = openScene();
    writeFileSync(join(dirname(path), "secret"), "x");
    await blobs.put("x");
    for (const hash of ["../../secret", "secret", sha256("x").toUpperCase(), `${sha256("x")}/..`, ""]) {
      for (const run of [() => blobs.get(hash), () => blobs.stream(hash), () => blobs.has(hash)]) {
        expect(run).toThrow(expect.objectContaining({ code: "BAD_VALUE" }));
      }
      await expect(blobs.remove(hash)).rejects.toMatchObject({ code: "BAD_VALUE" });
    }
    expect(readFileSync(join(dirname(path), "secret"), "utf8")).toBe("x");
  });

  test.each(["folder", "pipe", "link", "dangling link", "link to a blob"])(
    "refuses a %s in a blob's place, without waiting",
    async (kind) => {
      const { path, blobs, at } = openScene();
      const hash = sha256("x");
      const place = at(hash);
      mkdirSync(dirname(place), { recursive: true });
      if (kind === "folder") mkdirSync(place);
      else if (kind === "pipe") execFileSync("mkfifo", [place]);
      else if (kind === "dangling link") symlinkSync("nowhere", place);
      else {
        writeFileSync(join(path, "elsewhere"), kind === "link" ? "other" : "x");
        symlinkSync("../elsewhere", place);
      }
      const before = treeOf(path);
      const refused = { code: "REFUSED_PATH", path: place };
      for (const run of [() => blobs.get(hash), () => blobs.stream(hash), () => blobs.has(hash)]) {
        expect(run).toThrow(expect.objectContaining(refused));
      }
      for (const run of [() => blobs.put("x"), () => blobs.put(piecesOf(Buffer.from("x"))), () => blobs.remove(hash)]) {
        await expect(run()).rejects.toMatchObject(refused);
      }
      expect((await collect(blobs.verify())).map((problem) => problem.kind)).toContain("not-a-file");
      expect((await blobs.sweep(new Set(), { graceMs: 0 })).removed).toEqual([]);
      expect([...blobs.hashes()]).toEqual([]);
      expect(treeOf(path)).toEqual(before);
    },
  );

  test.each(["file", "link"])("refuses a %s in the place of one of its folders", async (kind) => {
    const { path, blobs } = openScene();
    const hash = sha256("x");
    const folder = join(path, hash.slice(0, 2));
    mkdirSync(join(path, "..", "outside"), { recursive: true });
    mkdirSync(path);
    writeFileSync(join(path, "..", "outside", hash), "x");
    if (kind === "file") writeFileSync(folder, "");
    else symlinkSync("../outside", folder);
    await expect(blobs.put("x")).rejects.toMatchObject({ code: "REFUSED_PATH", path: folder });
    await expect(blobs.remove(hash)).rejects.toMatchObject({ code: "REFUSED_PATH", path: folder });
    await blobs.sweep(new Set(), { graceMs: 0 });
    expect(readFileSync(join(path, "..", "outside", hash), "utf8")).toBe("x");
    rmSync(join(path, "..", "outside", hash));
    await expect(blobs.put(piecesOf(Buffer.from("x")))).rejects.toMatchObject({ code: "REFUSED_PATH", path: folder });
    expect(readdirSync(join(path, "..", "outside"))).toEqual([]);
    expect(readdirSync(path)).toEqual([hash.slice(0, 2)]);
  });

  test("names the path when a file lies in the place of the whole folder", async () => {
    const { path, blobs } = openScene();
    writeFileSync(path, "");
    await expect(blobs.put("x")).rejects.toMatchObject({ code: "REFUSED_PATH", path });
    expect(() => [...blobs.hashes()]).toThrow(expect.objectContaining({ code: "REFUSED_PATH", path }));
  });
});

describe("Blobs of many bytes", () => {
  test("are put and streamed without being held in memory, and not seen before they are whole", () => {
    const folder = memoryFolder();
    const source = `
      import { openBlobs } from "./index.ts";
      const blobs = openBlobs({ path: process.argv[2] });
      const piece = Buffer.alloc(1 << 20, 7);
      let seen = 0;
      async function* pieces() {
        for (let count = 0; count < 256; count += 1) {
          yield piece;
          seen += [...blobs.hashes()].length;
        }
      }
      const peak = () => process.resourceUsage().maxRSS / 1024;
      (async () => {
        const before = peak();
        const { hash, size } = await blobs.put(pieces());
        let streamed = 0;
        for await (const { length } of blobs.stream(hash)) streamed += length;
        console.log(JSON.stringify({ seen, size, streamed, grown: peak() - before }));
      })();
    `;
    const { stdout, stderr } = runProgram(buildProgram(folder, source), [join(folder, "blobs")]);
    expect(stderr).toBe("");
    const { grown, ...rest } = JSON.parse(stdout) as Record<string, number>;
    expect(rest).toEqual({ seen: 0, size: 256 << 20, streamed: 256 << 20 });
    expect(grown).toBeLessThan(128);
  });
});

describe("Blobs, on a platform", () => {
  test.each(["hardLinks", "inodes", "modes"])("without %s, are put, found again and mended all the same", (lacking) => {
    const path = join(temporaryFolder(), "blobs");
    const at = join(path, sha256("x").slice(0, 2), sha256("x"));
    const source = `
      import { openBlobs } from "./index.ts";
      import { platform } from "./platform.ts";
      import { writeFileSync } from "node:fs";
      platform.${lacking} = false;
      const [path, at] = process.argv.slice(2);
      const blobs = openBlobs({ path, mode: 0o600 });
      async function* pieces() { yield Buffer.from("x"); }
      (async () => {
        const answers = [];
        const put = async (content) => {
          const { added, setAside } = await blobs.put(content);
          answers.push([added, setAside !== undefined]);
        };
        await put("x");
        await put("x");
        await put(pieces());
        writeFileSync(at, "y");
        await put(pieces());
        const { removed } = await blobs.sweep((hash) => hash !== "${sha256("x")}", { graceMs: 0 });
        await put("x");
        console.log(JSON.stringify({ answers, removed, content: String(blobs.get("${sha256("x")}")) }));
      })();
    `;
    const { stdout, stderr } = runProgram(buildProgram(dirname(path), source), [path, at]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      answers: [
        [true, false],
        [false, false],
        [false, false],
        [true, true],
        [true, false],
      ],
      removed: [sha256("x")],
      content: "x",
    });
    expect(readdirSync(path)).toEqual([sha256("x").slice(0, 2)]);
  });
});

describe("Blobs, to whom the user may not write or read", () => {
  test("names the path, leaves no temporary file and reports what cannot be read", async () => {
    const { path, blobs, at } = openScene();
    const { hash } = await blobs.put("x");
    const hidden = (await blobs.put("hidden")).hash;
    chmodSync(at(hidden), 0);
    const folder = dirname(path);
    const source = `
      import { openBlobs } from "./index.ts";
      const [path, hidden] = process.argv.slice(2);
      if (process.getuid?.() === 0) {
        process.setgid(65534);
        process.setuid(65534);
      }
      const blobs = openBlobs({ path });
      const tried = async (run) => {
        try {
          await run();
          return "done";
        } catch (error) {
          return [error.code, error.path];
        }
      };
      async function* pieces() { yield Buffer.from("new"); }
      (async () => {
        const answers = [];
        for (const run of [
          () => blobs.get("${hash}"),
          () => blobs.put("new"),
          () => blobs.put(pieces()),
          () => blobs.put("x"),
          () => blobs.remove("${hash}"),
          () => blobs.get(hidden),
        ]) answers.push(await tried(run));
        for await (const { kind, path } of blobs.verify()) answers.push([kind, path]);
        console.log(JSON.stringify(answers));
      })();
    `;
    const program = buildProgram(folder, source);
    const places = [folder, path, dirname(at(hash)), dirname(at(hidden))];
    for (const place of places) chmodSync(place, 0o555);
    const before = readdirSync(path, { recursive: true });
    const { stdout, stderr } = runProgram(program, [path, hidden]);
    for (const place of places) chmodSync(place, 0o755);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([
      "done",
      ["NO_PERMISSION", path],
      ["NO_PERMISSION", path],
      ["NO_PERMISSION", `${path}.lock`],
      ["NO_PERMISSION", `${path}.lock`],
      ["NO_PERMISSION", at(hidden)],
      ["unreadable", at(hidden)],
    ]);
    expect(readdirSync(path, { recursive: true })).toEqual(before);
  });
});

describe("Blobs.hashes", () => {
  test("gives every blob in order and passes over foreign names", async () => {
    const { path, blobs, at } = openScene();
    const hashes: string[] = [];
    for (const content of ["a", "b", "c", "d", "e"]) hashes.push((await blobs.put(content)).hash);
    const [first = ""] = hashes;
    for (const name of ["README", "zz", ".blob.1.x.tmp", sha256("x"), "AB"]) writeFileSync(join(path, name), "");
    for (const name of ["note", sha256("y").replace(/^../, "00"), first.toUpperCase()]) {
      writeFileSync(join(dirname(at(first)), name), "");
    }
    expect([...blobs.hashes()]).toEqual([...hashes].sort());
  });
});

describe("Blobs.remove", () => {
  test("answers whether the blob was there, also a damaged one", async () => {
    const { blobs, at } = openScene();
    const { hash } = await blobs.put("x");
    const other = (await blobs.put("y")).hash;
    writeFileSync(at(hash), "damaged");
    expect([await blobs.remove(hash), await blobs.remove(hash), blobs.has(hash), blobs.has(other)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe("Blobs.verify", () => {
  test("names wrong content, misplaced blobs, foreign files and leftovers, and changes nothing", async () => {
    const { path, blobs, at } = openScene();
    const { hash: damaged } = await blobs.put("damaged");
    await blobs.put("good");
    expect(await collect(blobs.verify())).toEqual([]);
    writeFileSync(at(damaged), "Damaged");
    const strayed = sha256("strayed");
    writeFileSync(join(dirname(at(damaged)), strayed), "strayed");
    writeFileSync(join(path, strayed), "strayed");
    writeFileSync(`${at(damaged)}.corrupt-1`, "");
    mkdirSync(join(path, "folder"));
    writeFileSync(join(path, ".blob.999999999.x.tmp"), "");
    writeFileSync(join(path, `.blob.${process.pid}.x.tmp`), "");
    writeFileSync(join(dirname(at(damaged)), "note"), "");
    const before = treeOf(path);
    const found = (await collect(blobs.verify())).map(
      (problem) => `${problem.kind} ${problem.path.slice(path.length + 1)}`,
    );
    expect(found.sort()).toEqual(
      [
        `content ${damaged.slice(0, 2)}/${damaged}`,
        `set-aside ${damaged.slice(0, 2)}/${damaged}.corrupt-1`,
        `misplaced ${damaged.slice(0, 2)}/${strayed}`,
        `foreign ${damaged.slice(0, 2)}/note`,
        `misplaced ${strayed}`,
        "foreign folder",
        "temporary .blob.999999999.x.tmp",
      ].sort(),
    );
    expect(treeOf(path)).toEqual(before);
  });
});

describe("Blobs.sweep", () => {
  test("removes what is not kept and was put before the grace, and nothing else", async () => {
    const { path, blobs, at } = openScene();
    const { hash: kept } = await blobs.put("kept");
    const { hash: old } = await blobs.put("of old");
    const { hash: fresh } = await blobs.put("fresh");
    for (const hash of [kept, old]) age(at(hash));
    writeFileSync(join(path, "note"), "");
    age(join(path, "note"));
    expect(await blobs.sweep(new Set([kept]))).toEqual({ removed: [old], bytes: 6, temporaries: 0 });
    expect([...blobs.hashes()]).toEqual([kept, fresh].sort());
    expect(await blobs.sweep((hash) => hash === kept, { graceMs: 0 })).toMatchObject({ removed: [fresh] });
    expect([...blobs.hashes()]).toEqual([kept]);
    expect(readdirSync(path)).toContain("note");
  });

  test("spares what was put again, and what has a time to come", async () => {
    const { blobs, at } = openScene();
    const { hash: again } = await blobs.put("again");
    const { hash: ahead } = await blobs.put("ahead");
    age(at(again));
    await blobs.put("again");
    const tomorrow = new Date(Date.now() + 86_400_000);
    utimesSync(at(ahead), tomorrow, tomorrow);
    expect((await blobs.sweep(new Set(), { graceMs: 60_000 })).removed).toEqual([]);
    expect((await blobs.sweep(new Set(), { graceMs: 0 })).removed).toEqual([again]);
  });

  test("counts the grace from the end of a put, however long its stream took", async () => {
    const { path, blobs } = openScene();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("x");
      for (const name of readdirSync(path)) age(join(path, name));
    }
    await blobs.put(slow());
    expect((await blobs.sweep(new Set(), { graceMs: 60_000 })).removed).toEqual([]);
  });

  test("looks again under the lock, so that a put wins that came while it waited", async () => {
    const { path, blobs, at } = openScene();
    const { hash } = await blobs.put("x");
    age(at(hash));
    const outside = AsyncLocalStorage.snapshot();
    let sweep: ReturnType<Blobs["sweep"]> | undefined;
    await withLock(`${path}.lock`, {}, async () => {
      sweep = outside(() => blobs.sweep(new Set(), { graceMs: 60_000 }));
      const now = new Date();
      utimesSync(at(hash), now, now);
    });
    expect(await sweep).toMatchObject({ removed: [] });
    expect(blobs.has(hash)).toBe(true);
  });

  test.skipIf(!existsSync(openFiles))(
    "is no loss to a put that finds the content and waits for the lock meanwhile",
    async () => {
      const { path, blobs, at } = openScene();
      const { hash } = await blobs.put("x");
      for (const content of ["x", piecesOf(Buffer.from("x"))]) {
        const outside = AsyncLocalStorage.snapshot();
        let put: ReturnType<Blobs["put"]> | undefined;
        await withLock(`${path}.lock`, {}, async () => {
          put = outside(() => blobs.put(content));
          while (!isOpen(at(hash))) await new Promise(setImmediate);
          rmSync(at(hash));
        });
        expect(await put).toEqual({ hash, size: 1, added: true });
        expect(blobs.get(hash)?.toString()).toBe("x");
      }
    },
  );

  test("removes temporary files of dead writers past the grace, and spares those of living ones", async () => {
    const { path, blobs } = openScene();
    mkdirSync(path);
    const own = `.blob.${process.pid}.x.tmp`;
    for (const name of [own, ".blob.999999999.x.tmp", ".blob.999999999.y.tmp", ".other.999999999.x.tmp"]) {
      writeFileSync(join(path, name), "");
      if (!name.includes(".y.")) age(join(path, name));
    }
    expect((await blobs.sweep(new Set())).temporaries).toBe(1);
    expect(readdirSync(path).sort()).toEqual([own, ".blob.999999999.y.tmp", ".other.999999999.x.tmp"].sort());
  });

  test.each([-1, Number.NaN])("refuses a grace of %d", async (graceMs) => {
    await expect(openScene().blobs.sweep(new Set(), { graceMs })).rejects.toMatchObject({ code: "BAD_VALUE" });
  });

  test("removes nothing of a folder when the caller's answer fails", async () => {
    const { blobs } = openScene();
    const { hash } = await blobs.put("x");
    const sweep = blobs.sweep(() => {
      throw new Error("cannot tell");
    });
    await expect(sweep).rejects.toThrow("cannot tell");
    expect(blobs.has(hash)).toBe(true);
  });
});
