import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Sources } from "./job.ts";

/**
 * Loads an installed peer. `Shape` says what of it is used: the root installs no peer, so no types of theirs are there to be
 * checked against.
 */
export async function loadPeer<Shape>({ packages }: Sources, name: string): Promise<Shape> {
  const file = createRequire(join(packages, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as Shape;
}
