import * as fs from "node:fs";
import * as path from "node:path";
import { applyPlan } from "@reeve/store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReeveError } from "../findings/errors.ts";
import { type Checkout, makeScene, type Scene } from "../git/fixture.ts";
import { findRepository, type Repository } from "../git/repository.ts";
import type { AbsPath } from "../system/paths.ts";
import { ensureHome } from "./home.ts";
import {
  appendChange,
  createChange,
  type Layer,
  openLayer,
  replaceChange,
  requireLayer,
  writeChange,
} from "./layer.ts";
import { planInit } from "./plan-init.ts";
import { openShare, readHomeSeeds } from "./share.ts";

const shareFolder = path.resolve(import.meta.dirname, "../../../../share") as AbsPath;

let scene: Scene;
let made: Checkout;

beforeAll(async () => {
  scene = makeScene();
  made = scene.make("with layer");
  await initialise(made);
});
afterAll(() => scene.remove());

const attributes = ["/.ai/repo/x.jsonl text eol=lf"];

function repositoryOf(checkout: Checkout): Repository {
  return findRepository(checkout.system(), checkout.top);
}

function init(checkout: Checkout, extend = false): ReturnType<typeof planInit> {
  const system = checkout.system();
  return planInit({
    system,
    repository: repositoryOf(checkout),
    share: openShare(system, shareFolder),
    extend,
    attributes,
  });
}

async function initialise(checkout: Checkout, extend = false): Promise<void> {
  const system = checkout.system();
  await applyPlan({ changes: init(checkout, extend).changes }, { journal: path.join(scene.root, "journal") });
  const seeds = readHomeSeeds(openShare(system, shareFolder));
  await ensureHome({ system, repository: repositoryOf(checkout), seeds });
}

function open(checkout: Checkout, more: { readonly caches?: boolean; readonly dry?: boolean } = {}): Layer {
  const base = { system: checkout.system(), repository: repositoryOf(checkout), version: "1.0.0" };
  return openLayer({ ...base, caches: more.caches ?? false, dry: more.dry ?? false });
}

function refusal(run: () => unknown): ReeveError {
  try {
    run();
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("planInit", () => {
  test("planInit writes what is shipped and the ignore line, and git sees no home", async () => {
    const tree = scene.make("fresh");
    tree.write({ ".gitignore": "node_modules" });
    const plan = init(tree);
    expect(plan.ignores).toBe(true);
    expect(plan.created).toContain(".ai/repo/policy.yaml");
    expect(plan.created).toContain(".ai/repo/rules/vendor/reeve/scope-integrity.v1.md");
    expect([...plan.created].sort()).toEqual([...plan.created]);
    await initialise(tree);
    expect(fs.readFileSync(path.join(tree.top, ".gitignore"), "utf8")).toBe("node_modules\n/.ai/local\n");
    expect(tree.git("status", "--porcelain", "-uall")).not.toContain(".ai/local");
  });

  test("planInit plans nothing to extend on a whole layer", () => {
    expect(init(made, true)).toEqual({ changes: [], created: [], ignores: false, attributes: [] });
  });

  test("planInit adds to a layer what it lacks and overwrites nothing", async () => {
    const tree = scene.make("partial");
    tree.write({ ".ai/repo/policy.yaml": "mine\n", ".gitignore": "  /.ai/local  \n" });
    expect(refusal(() => init(tree))).toMatchObject({
      code: "LAYER_EXISTS",
      hint: expect.stringContaining("--extend"),
    });
    const plan = init(tree, true);
    expect([plan.ignores, plan.created.includes(".ai/repo/policy.yaml")]).toEqual([false, false]);
    await initialise(tree, true);
    expect(fs.readFileSync(path.join(tree.top, ".ai/repo/policy.yaml"), "utf8")).toBe("mine\n");
  });

  test("planInit adds the ignore line where another one would not match a link", () => {
    const tree = scene.make("slash");
    for (const [text, ignores] of [
      ["/.ai/local/\n", true],
      [".ai/local/\n", true],
      ["#/.ai/local\n", true],
      ["!/.ai/local\n", true],
      ["/.ai/local\r\n", false],
      [".ai/local\n", false],
    ] as const) {
      tree.write({ ".gitignore": text });
      expect(init(tree).ignores, text).toBe(ignores);
    }
  });

  test("planInit begins where only a home is there", () => {
    const tree = scene.make("home only");
    tree.write({ ".ai/local/state/a": "" });
    expect(init(tree).created.length).toBeGreaterThan(0);
  });

  test.each([
    ["a whole layer", { ".ai/manifest.yaml": "", ".ai/repo/a": "" }, /exists already/],
    ["half a layer", { ".ai/repo/a": "" }, /without a manifest/],
    ["the layout before", { ".majordomus/a": "" }, /\.majordomus/],
    ["a file", { ".ai": "" }, /\.ai is a file/],
  ])("planInit refuses to begin over %s", (what, files, says) => {
    const tree = scene.make(`over ${what}`);
    tree.write(files);
    const error = refusal(() => init(tree));
    expect(error).toMatchObject({ code: "LAYER_EXISTS", exit: 15, message: expect.stringMatching(says) });
    expect(error.hint).not.toMatch(/force|rm -/);
  });

  test("planInit refuses to write through a link", () => {
    const tree = scene.make("linked layer");
    fs.mkdirSync(path.join(scene.root, "aside"));
    fs.symlinkSync("../aside", path.join(tree.top, ".ai"));
    for (const extend of [false, true]) expect(refusal(() => init(tree, extend)).message).toContain("symbolic link");
  });
});

describe("requireLayer", () => {
  test("requireLayer accepts a layer, and says what stands where there is none", () => {
    const ask = (checkout: Checkout): void => requireLayer(checkout.system(), repositoryOf(checkout));
    expect(() => ask(made)).not.toThrow();
    const none = scene.make("none");
    expect(refusal(() => ask(none))).toMatchObject({ code: "NO_LAYER", exit: 12, hint: "reeve init" });
    none.write({ ".ai/repo/a": "" });
    expect(refusal(() => ask(none))).toMatchObject({ code: "NO_LAYER", hint: expect.stringContaining("--extend") });
    const file = scene.make("file");
    file.write({ ".ai": "" });
    expect(refusal(() => ask(file))).toMatchObject({
      message: ".ai is a file, not a folder",
      hint: "mv .ai .ai.aside",
    });
  });
});

describe("openLayer", () => {
  test("openLayer places the tracked half in the working tree and the other one in the home", () => {
    const layer = open(made);
    expect(layer.locate(".ai/repo/policy.yaml")).toBe(path.join(made.top, ".ai/repo/policy.yaml"));
    expect(layer.locate(".ai/local/state/ledger.jsonl")).toBe(
      path.join(made.top, ".git/reeve/checkouts/main/state/ledger.jsonl"),
    );
    expect(layer.read(".ai/local/state/decisions.md")).toContain("Decisions");
    expect(layer.read(".ai/local/state/nothing")).toBeUndefined();
    expect(layer.list(".ai/local/state/")).toContain("decisions.md");
    expect(layer.list(".ai/local/state/nothing/")).toEqual([]);
  });

  test("openLayer reads nothing of a home that is not there, and makes none", () => {
    const tree = scene.make("homeless");
    tree.write({ ".ai/manifest.yaml": "schema: ai-repository/v1\n" });
    const layer = open(tree);
    expect([layer.read(".ai/local/state/decisions.md"), layer.list(".ai/local/state/"), layer.pending]).toEqual([
      undefined,
      [],
      [],
    ]);
    expect(layer.read(".ai/manifest.yaml")).toBe("schema: ai-repository/v1\n");
    expect(fs.existsSync(path.join(tree.top, ".git/reeve"))).toBe(false);
  });

  test.each([
    ["with caches", { caches: true }, true],
    ["without caches", { caches: false }, false],
    ["in a dry run", { caches: true, dry: true }, false],
  ])("openLayer keeps parsed documents %s", async (what, more, kept) => {
    const tree = scene.make(`cache ${what}`);
    await initialise(tree);
    const layer = open(tree, more);
    const decoded = await layer.documents.decode("policy", "a.yaml", "version: 1\n");
    layer.documents.keep();
    expect(decoded).toEqual({ ok: true, value: { version: 1 } });
    expect(fs.existsSync(layer.locate(".ai/local/cache/parsed.json" as AbsPath))).toBe(kept);
  });
});

describe("writeChange", () => {
  test("writeChange keeps records private, and what git tracks as it is", () => {
    const layer = open(made);
    expect(writeChange(layer, ".ai/local/state/a", "x")).toMatchObject({
      path: "state/a",
      root: layer.home.path,
      mode: 0o600,
    });
    expect(writeChange(layer, ".ai/repo/a", "x")).toEqual({
      kind: "write",
      root: made.top,
      path: ".ai/repo/a",
      bytes: "x",
    });
  });

  test("createChange, replaceChange and appendChange do what they say, or nothing", async () => {
    const layer = open(made);
    const apply = (...changes: Parameters<typeof applyPlan>[0]["changes"]): Promise<unknown> =>
      applyPlan({ changes }, { journal: path.join(scene.root, "journal") });
    const name = ".ai/local/state/changes.txt";
    const read = (): string => fs.readFileSync(layer.locate(name), "utf8");
    await apply(createChange(layer, name, "one\n"));
    await expect(apply(createChange(layer, name, "two\n"))).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(apply(replaceChange(layer, name, { before: "other\n", after: "x\n" }))).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(read()).toBe("one\n");
    await apply(replaceChange(layer, name, { before: "one\n", after: "two" }), appendChange(layer, name, "three\n"));
    expect(read()).toBe("two\nthree\n");
    expect(fs.statSync(layer.locate(name)).mode & 0o777).toBe(0o600);
  });
});

describe("openShare", () => {
  test("openShare lists whole folders in order, and names a missing file as the installation's fault", () => {
    const share = openShare(made.system(), shareFolder);
    const names = share.list("skeleton");
    expect([...names].sort()).toEqual([...names]);
    expect(names.every((name) => share.read(name) !== undefined)).toBe(true);
    for (const run of [() => share.read("nothing"), () => share.list("nothing")])
      expect(refusal(run)).toMatchObject({ code: "MISSING_FILE", hint: "install Reeve again" });
  });

  test("readHomeSeeds names the files of a home by their path from it", () => {
    expect(Object.keys(readHomeSeeds(openShare(made.system(), shareFolder))).sort()).toEqual([
      "state/decisions.md",
      "state/open-questions.md",
    ]);
  });
});
