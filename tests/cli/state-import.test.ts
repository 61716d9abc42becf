import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { failureOf, type Members, resultOf } from "../answers.ts";
import { type CraftedEntry, type CraftedFile, manifestOf, packBundle, packEntries } from "../bundles.ts";
import { makeScene, type Scene } from "../scene.ts";

const note = ".ai/local/state/completed/note.md";
const ledger = ".ai/local/state/ledger.jsonl";
const policy = ".ai/repo/policy.yaml";

interface Imported {
  readonly path: string;
  readonly status: string;
  readonly lines: number | null;
  readonly copy: string | null;
}

function importInto(scene: Scene, bundle: string, ...args: readonly string[]): Members {
  return resultOf(scene.reeve(["state", "import", bundle, "--json", ...args]));
}

function standings(result: Members): Readonly<Record<string, string>> {
  return Object.fromEntries((result["files"] as readonly Imported[]).map(({ path, status }) => [path, status]));
}

function fileIn(result: Members, path: string): Imported | undefined {
  return (result["files"] as readonly Imported[]).find((file) => file.path === path);
}

/** Two layers on two machines: folders and homes of their own. */
function twoLayers(): { readonly here: Scene; readonly there: Scene; readonly bundle: string } {
  const there = makeScene({ layer: true });
  expect(there.reeve(["decision", "add", "theirs", "--why", "a reason"]).exit).toBe(0);
  there.write(note, "# A note\n");
  there.write(policy, `${there.read(policy)}# theirs\n`);
  const bundle = `${there.folder}/layer.tgz`;
  expect(there.reeve(["state", "export", bundle]).exit).toBe(0);
  return { here: makeScene({ layer: true }), there, bundle };
}

/** Everything the layer holds but for the lock, caches and what an import leaves behind. */
function layerOf(scene: Scene): Readonly<Record<string, string>> {
  const listed = scene.sh("find -L .ai -type f | grep -vE '/(cache|run|replaced|tmp)/|exchanged|ledger' | sort").stdout;
  return Object.fromEntries(
    listed
      .trim()
      .split("\n")
      .map((path) => [path, scene.read(path)]),
  );
}

describe("reeve state import", () => {
  test("a preview says how each file stands, and writes nothing", () => {
    const { here, bundle } = twoLayers();
    const before = layerOf(here);
    const result = importInto(here, bundle, "--preview");
    expect(result["applied"]).toBe(false);
    const statuses = standings(result);
    expect(statuses[note]).toBe("new");
    expect(statuses[policy]).toBe("changed");
    expect(statuses[".ai/local/state/decisions.md"]).toBe("changed");
    expect(statuses[".ai/README.md"]).toBe("same");
    expect(layerOf(here)).toEqual(before);
    expect(here.exists(".ai/local/state/exchanged.json")).toBe(false);
  });

  test("brings everything over, keeps a copy of what it replaced, and is the same the second time", () => {
    const { here, there, bundle } = twoLayers();
    const shipped = here.read(policy);
    const result = importInto(here, bundle);
    expect(result["applied"]).toBe(true);
    expect(layerOf(here)).toEqual(layerOf(there));
    expect(here.ledger()).toEqual(there.ledger());
    const copy = fileIn(result, policy)?.copy ?? "";
    expect(copy).toMatch(/^\.ai\/local\/replaced\/\d{8}T\d{6}Z-[0-9a-f]{4}\/\.ai\/repo\/policy\.yaml$/);
    expect(here.read(copy)).toBe(shipped);
    expect(fs.statSync(here.at(note)).mode & 0o777).toBe(0o600);
    expect(new Set(Object.values(standings(importInto(here, bundle, "--preview"))))).toEqual(new Set(["same"]));
    const again = importInto(here, bundle);
    expect(new Set(Object.values(standings(again)))).toEqual(new Set(["same"]));
    expect(fs.readdirSync(here.at(".ai/local/replaced"))).toHaveLength(1);
  });

  test("tells who moved: the bundle's side, both, or only the file here", () => {
    const { here, there, bundle } = twoLayers();
    importInto(here, bundle);
    here.write(note, "# Mine\n");
    expect(standings(importInto(here, bundle, "--preview"))[note]).toBe("kept");
    expect(importInto(here, bundle)["applied"]).toBe(true);
    expect(here.read(note)).toBe("# Mine\n");
    there.write(note, "# Theirs\n");
    there.write(policy, `${there.read(policy)}# again\n`);
    const second = `${there.folder}/second.tgz`;
    expect(there.reeve(["state", "export", second]).exit).toBe(0);
    const statuses = standings(importInto(here, second, "--preview"));
    expect([statuses[note], statuses[policy]]).toEqual(["conflict", "changed"]);
    const copy = fileIn(importInto(here, second), note)?.copy ?? "";
    expect([here.read(note), here.read(copy)]).toEqual(["# Theirs\n", "# Mine\n"]);
  });

  test("what only moved here is replaced when --only names that very file", () => {
    const { here, bundle } = twoLayers();
    importInto(here, bundle);
    here.write(note, "# Mine\n");
    importInto(here, bundle, "--only", ".ai/local/state/completed");
    expect(here.read(note)).toBe("# Mine\n");
    importInto(here, bundle, "--only", note);
    expect(here.read(note)).toBe("# A note\n");
  });

  test("joins a log: no line twice, none lost", () => {
    const { here, there, bundle } = twoLayers();
    expect(here.reeve(["decision", "add", "mine", "--why", "a reason"]).exit).toBe(0);
    const [mine, theirs] = [here.ledger(), there.ledger()];
    const result = importInto(here, bundle);
    expect(fileIn(result, ledger)).toMatchObject({ status: "changed", lines: theirs.length, copy: null });
    expect(here.ledger()).toEqual([...mine, ...theirs]);
    expect(fileIn(importInto(here, bundle), ledger)).toMatchObject({ status: "same", lines: 0 });
    expect(here.ledger()).toEqual([...mine, ...theirs]);
  });

  test("a line that was rotated away here does not come back", () => {
    const { here, there, bundle } = twoLayers();
    here.write(".ai/local/state/ledger.20300101T000000Z.archived", there.read(ledger));
    expect(fileIn(importInto(here, bundle), ledger)).toMatchObject({ status: "same", lines: 0 });
    expect(here.exists(ledger)).toBe(false);
  });

  test("never touches the task, and writes no event", () => {
    const { here, bundle } = twoLayers();
    expect(here.reeve(["start", "mine", "--scope", "src"]).exit).toBe(0);
    const [task, events] = [here.read(".ai/local/state/current.yaml"), here.ledger().length];
    importInto(here, bundle, "--only", ".ai/repo");
    expect(here.read(".ai/local/state/current.yaml")).toBe(task);
    expect(here.ledger()).toHaveLength(events);
  });

  test("says what declares a file that nobody declared here, and takes the rest without it", () => {
    const { here, there } = twoLayers();
    const declared = ".ai/local/state/theirs.md";
    const declaration = {
      path: declared,
      purpose: "Their notes.",
      because: "Another tool writes it.",
      owner: "theirs",
      writer: "theirs",
      portability: "carry",
      scope: "home",
      invalidates: [],
      why: "Nothing shows it.",
      holds: "document",
    };
    there.write(".ai/repo/state.jsonl", `${JSON.stringify(declaration)}\n`);
    there.write(declared, "theirs\n");
    const bundle = `${there.folder}/declared.tgz`;
    expect(there.reeve(["state", "export", bundle]).exit).toBe(0);
    const refused = here.reeve(["state", "import", bundle, "--json"]);
    expect(refused.exit).toBe(15);
    const failure = failureOf(refused);
    expect(JSON.stringify(failure)).toContain("--only .ai/repo/state.jsonl");
    expect(here.exists(".ai/repo/state.jsonl")).toBe(false);
    expect(importInto(here, bundle, "--only", note)["applied"]).toBe(true);
    importInto(here, bundle, "--only", ".ai/repo/state.jsonl");
    importInto(here, bundle);
    expect(here.read(declared)).toBe("theirs\n");
  });

  test("moves large files into place, and what they replace out of it", () => {
    const { here, there } = twoLayers();
    const [theirs, mine] = [Buffer.alloc(3_000_000, "theirs\n"), Buffer.alloc(2_000_000, "mine\n")];
    for (const at of [0, 1, 2]) there.write(`.ai/local/state/completed/l${at}.md`, at === 2 ? "small" : theirs);
    here.write(".ai/local/state/completed/l1.md", mine);
    here.write(".ai/local/state/completed/l2.md", mine);
    const bundle = `${there.folder}/large.tgz`;
    expect(there.reeve(["state", "export", bundle]).exit).toBe(0);
    const result = importInto(here, bundle);
    for (const at of [0, 1]) {
      const file = here.at(`.ai/local/state/completed/l${at}.md`);
      expect(fs.readFileSync(file).equals(theirs)).toBe(true);
      expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    }
    expect(here.read(".ai/local/state/completed/l2.md")).toBe("small");
    for (const at of [1, 2]) {
      const copy = fileIn(result, `.ai/local/state/completed/l${at}.md`)?.copy ?? "";
      expect(fs.readFileSync(here.at(copy)).equals(mine)).toBe(true);
    }
    expect(fs.readdirSync(here.at(".ai/local/tmp"))).toEqual([]);
  });

  test("says what to do by hand for the task that stayed behind", () => {
    const there = makeScene({ layer: true });
    expect(there.reeve(["start", "theirs", "--scope", "src"]).exit).toBe(0);
    const bundle = `${there.folder}/layer.tgz`;
    expect(there.reeve(["state", "export", bundle]).exit).toBe(0);
    const said = makeScene({ layer: true }).reeve(["state", "import", bundle]);
    expect(said.stdout).toMatch(
      /^to do: The task under way stayed where it is.*\(\.ai\/local\/state\/current\.yaml\)$/m,
    );
  });

  test("a dry run shows the plan and writes nothing", () => {
    const { here, bundle } = twoLayers();
    const before = layerOf(here);
    expect(here.reeve(["state", "import", bundle, "--dry-run"]).stdout).toContain("write state/completed/note.md");
    expect(layerOf(here)).toEqual(before);
  });

  test("opens an encrypted bundle with its passphrase and no other", () => {
    const { here, there } = twoLayers();
    const bundle = `${there.folder}/layer.age`;
    const env = { REEVE_PASSPHRASE: "correct horse battery" };
    expect(there.reeve(["state", "export", bundle], { env }).exit).toBe(0);
    const preview = ["state", "import", bundle, "--preview", "--json"];
    expect(failureOf(here.reeve(preview)).message).toContain("no passphrase was given");
    const wrong = { REEVE_PASSPHRASE: "wrong" };
    expect(failureOf(here.reeve(preview, { env: wrong })).message).toContain("the passphrase does not open it");
    expect(standings(resultOf(here.reeve(preview, { env })))[note]).toBe("new");
    const bytes = fs.readFileSync(bundle);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
    fs.writeFileSync(bundle, bytes);
    expect(failureOf(here.reeve(preview, { env }))).toMatchObject({ code: "REFUSED" });
  });
});

const good: CraftedFile = { path: note, text: "# A note\n" };
const twice: CraftedEntry = { name: note, text: "# A note\n" };

function withEntries(files: readonly CraftedFile[], entries: readonly CraftedEntry[]): Buffer {
  return packBundle(files, { entries });
}

const identity: CraftedFile = { path: ".ai/local/identity/id.json", text: "{}", group: "identity" };
const secret: CraftedFile = { path: ".ai/local/secrets/token", text: "a", group: "secrets" };
const records: CraftedFile = { ...secret, group: "records" };
const task: CraftedFile = { path: ".ai/local/state/current.yaml", text: "a: 1\n" };
const zeros: CraftedFile = { path: note, text: Buffer.alloc(100_000_000) };
const whole = packBundle([good]);
/** The entry that gives the next one its name. */
function longName(name: string): CraftedEntry {
  const record = ` path=${name}\n`;
  return { name: "PaxHeader/x", flag: "x", text: `${record.length + 2}${record}` };
}

const link: CraftedEntry = { name: ".ai/local/state/completed", flag: "2", link: "/tmp" };
const named = (path: string): Buffer => packBundle([{ ...good, path }]);

const hostile: readonly (readonly [string, Buffer, string | RegExp])[] = [
  ["an empty file", Buffer.alloc(0), "is no bundle"],
  ["a text", Buffer.from("hello\n"), "is no bundle"],
  ["a truncated bundle", whole.subarray(0, whole.length - 20), "is truncated"],
  ["a bundle cut to its first bytes", whole.subarray(0, 30), "is truncated"],
  ["a gzip that is no archive", packEntries([]).subarray(0, 10), "is truncated"],
  ["damaged bytes", Buffer.concat([whole.subarray(0, 40), Buffer.alloc(60, 7), whole.subarray(100)]), "is damaged"],
  [
    "another first entry",
    packEntries([twice, { name: "reeve-bundle.json", text: manifestOf([good]) }]),
    "does not begin",
  ],
  ["a manifest that does not parse", packEntries([{ name: "reeve-bundle.json", text: "{" }]), "does not parse"],
  ["a manifest with an unknown key", packBundle([good], { otherwise: { more: 1 } }), "not valid at more"],
  ["a wrong hash", packBundle([{ ...good, sha256: "0".repeat(64) }]), "has not the hash"],
  [
    "an entry too many",
    withEntries([good], [twice, { name: ".ai/local/state/completed/z.md" }]),
    "not the file its manifest",
  ],
  ["an entry too few", withEntries([good], []), `${note} is missing`],
  ["another size", withEntries([good], [{ name: note, text: "# A longer note\n" }]), "not the file its manifest"],
  ["..", named(".ai/local/state/../../../x"), "leaves the layer with .."],
  ["an entry with .. of which the manifest says nothing", withEntries([good], [{ name: "../x", text: "a" }]), ".."],
  ["an absolute path", named("/etc/passwd"), "is an absolute path"],
  ["a drive", named("C:/x"), "is an absolute path"],
  ["a backslash", named(".ai\\local\\state\\x"), "backslash"],
  ["a link, then a file through it", withEntries([good], [link, twice]), "is a symbolic link"],
  ["a hard link", withEntries([good], [{ name: note, flag: "1", link: "/etc/passwd" }]), "is a hard link"],
  ["a device", withEntries([good], [{ name: note, flag: "3" }]), "is a device"],
  ["a pipe", withEntries([good], [{ name: note, flag: "6" }]), "is a pipe"],
  ["a folder", withEntries([good], [{ name: ".ai/local/state/", flag: "5" }]), "is a folder"],
  ["a kind of entry nobody knows", withEntries([good], [{ name: note, flag: "V" }]), "is of a kind no bundle holds"],
  ["a long name that hides another one", withEntries([good], [longName("../../x"), twice]), "leaves the layer with .."],
  ["an archive in an archive", gzipSync(whole), "holds no tar archive"],
  ["a bomb", packBundle([zeros]), "unpacks to more than 200 times its size"],
  ["two entries with one name", withEntries([good], [twice, twice]), "is there twice"],
  ["one name twice in the manifest", packBundle([good, good]), "is there twice"],
  [
    "names that differ in case",
    packBundle([good, { ...good, path: note.replace("note", "Note") }]),
    "differ only in case",
  ],
  ["a file below a file", packBundle([good, { ...good, path: `${note}/x` }]), "lies below"],
  [
    "a name that is not UTF-8",
    withEntries([good], [{ name: Buffer.from([0x61, 0xff, 0x62]), text: "a" }]),
    "not UTF-8",
  ],
  ["identity", packBundle([identity]), "never travels"],
  ["a secret without the exporter's consent", packBundle([secret]), "made without secrets"],
  ["a secret under another class", packBundle([records]), "made without secrets"],
  ["what the table does not declare", named(".ai/local/state/unknown.txt"), "not declared"],
  ["a file outside the layer", named("src/x.ts"), "in no folder"],
  ["a copy of a file", named(`${ledger}.damaged`), "copy of another file"],
  ["the task of a checkout", packBundle([task]), "does not travel"],
  ["another class", packBundle([{ ...good, group: "config" }]), "is records here and config in the bundle"],
];

describe("reeve state import refuses", () => {
  test.each(hostile)("%s, naming it, with nothing written", (_what, bytes, says) => {
    const scene = makeScene({ layer: true });
    const file = `${scene.folder}/hostile.tgz`;
    fs.writeFileSync(file, bytes);
    const before = scene.sh("find -L .ai .. -maxdepth 1 | sort; find -L .ai -type f | sort | xargs cksum").stdout;
    const failure = failureOf(scene.reeve(["state", "import", file, "--include-secrets", "--json"]));
    expect(failure.code).toBe("REFUSED");
    expect(failure.message).toContain("hostile.tgz: ");
    expect(failure.message).toMatch(says instanceof RegExp ? says : new RegExp(says.replaceAll(".", "\\."), "i"));
    expect(scene.sh("find -L .ai .. -maxdepth 1 | sort; find -L .ai -type f | sort | xargs cksum").stdout).toBe(before);
  });

  test("a newer format, and points to the newer Reeve", () => {
    const scene = makeScene({ layer: true });
    fs.writeFileSync(`${scene.folder}/new.tgz`, packBundle([good], { otherwise: { format: 2, more: true } }));
    const failure = failureOf(scene.reeve(["state", "import", "../new.tgz", "--json"]));
    expect(failure).toMatchObject({ code: "STATE_NEWER", hint: expect.stringContaining("newer Reeve") });
  });

  test("a file that is not there, and an --only that names nothing", () => {
    const scene = makeScene({ layer: true });
    expect(failureOf(scene.reeve(["state", "import", "../no.tgz", "--json"]))).toMatchObject({ code: "MISSING_FILE" });
    fs.writeFileSync(`${scene.folder}/good.tgz`, whole);
    const answer = scene.reeve(["state", "import", "../good.tgz", "--only", ".ai/repo", "--json"]);
    expect(failureOf(answer)).toMatchObject({ code: "NOT_FOUND" });
  });

  test("to write through a link that stands where a file goes", () => {
    const scene = makeScene({ layer: true });
    fs.writeFileSync(`${scene.folder}/good.tgz`, whole);
    fs.writeFileSync(`${scene.folder}/outside`, "mine");
    fs.symlinkSync(`${scene.folder}/outside`, scene.at(note));
    expect(failureOf(scene.reeve(["state", "import", "../good.tgz", "--json"]))).toMatchObject({ code: "REFUSED" });
    expect(fs.readFileSync(`${scene.folder}/outside`, "utf8")).toBe("mine");
    fs.rmSync(scene.at(note));
    fs.renameSync(scene.at(".ai/local/state/completed"), `${scene.folder}/completed`);
    fs.symlinkSync(`${scene.folder}/completed`, scene.at(".ai/local/state/completed"));
    expect(failureOf(scene.reeve(["state", "import", "../good.tgz", "--json"]))).toMatchObject({ code: "REFUSED" });
    expect(fs.readdirSync(`${scene.folder}/completed`)).toEqual([]);
  });
});

/** What a repository declares so that there is a secret and a prompt to carry. */
const declared = [
  { path: ".ai/local/state/asked/", portability: "carry", holds: "directory", travels: "with-prompts" },
].map((entry) =>
  JSON.stringify({
    ...entry,
    purpose: "What was asked.",
    because: "A test needs it.",
    owner: "a tool",
    writer: "a tool",
    scope: "checkout",
    invalidates: [],
    why: "Nothing shows it.",
    note: "Ask again.",
  }),
);

describe("consents", () => {
  test("prompts travel when both sides ask for them, and are named when they stay", () => {
    const scenes = [makeScene({ layer: true }), makeScene({ layer: true })] as const;
    for (const scene of scenes) scene.write(".ai/repo/state.jsonl", `${declared.join("\n")}\n`);
    const [there, here] = scenes;
    const asked = ".ai/local/state/asked/one.md";
    there.write(asked, "Why?\n");
    const without = resultOf(there.reeve(["state", "export", "../without.tgz", "--json"]));
    expect(without["left_out"]).toContainEqual({ path: ".ai/local/state/asked/", because: "prompts", files: 1 });
    resultOf(there.reeve(["state", "export", "../with.tgz", "--include-prompts", "--json"]));
    const first = importInto(here, `${there.folder}/without.tgz`, "--preview");
    expect(first["to_do"]).toEqual([{ path: ".ai/local/state/asked/", note: "Ask again." }]);
    const withheld = importInto(here, `${there.folder}/with.tgz`, "--preview");
    expect(withheld).toMatchObject({ withheld: [asked], to_do: [{ note: "Ask again." }] });
    const taken = importInto(here, `${there.folder}/with.tgz`, "--include-prompts");
    expect(taken).toMatchObject({ withheld: [], to_do: [] });
    expect(here.read(asked)).toBe("Why?\n");
  });
});
