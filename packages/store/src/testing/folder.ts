import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "store-")));
  onTestFinished(() => removeTree(folder));
  return folder;
}

/** The same in memory, where there is such a place: for runs whose durability is not what is tested. */
export function memoryFolder(): string {
  const place = "/dev/shm";
  if (!existsSync(place)) return temporaryFolder();
  const folder = mkdtempSync(join(place, "store-"));
  onTestFinished(() => removeTree(folder));
  return folder;
}

/** The environment of a child process: nothing of the person's own. */
export function neutralEnvironment(folder: string): Record<string, string> {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_DATA_HOME: join(home, "data"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
}

/** Every path below a folder with what it holds: a file's text, a link's target after an arrow, `/` for a folder. */
export function treeOf(folder: string, below = ""): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    const info = lstatSync(join(folder, path));
    if (info.isSymbolicLink()) tree[path] = `-> ${readlinkSync(join(folder, path))}`;
    else if (info.isDirectory()) Object.assign(tree, { [path]: "/" }, treeOf(folder, path));
    else tree[path] = info.isFile() ? readFileSync(join(folder, path), "utf8") : "?";
  }
  return tree;
}

/** The permission bits of a path. */
export function modeOf(path: string): number {
  return lstatSync(path).mode & 0o7777;
}

function removeTree(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
