import { join } from "node:path";
import type { Change } from "@reeve/store";
import { ReeveError } from "../findings/errors.ts";
import type { Repository } from "../git/repository.ts";
import type { AbsPath } from "../system/paths.ts";
import type { System } from "../system/port.ts";
import { ignoreLine } from "./home.ts";
import { describeSquatter, moveAside } from "./layer.ts";
import type { Share } from "./share.ts";

const skeleton = "skeleton/ai/";
const rules = "rules/";
const vendor = ".ai/repo/rules/vendor/reeve/";

export interface InitRequest {
  readonly system: System;
  readonly repository: Repository;
  readonly share: Share;
  readonly extend: boolean;
  /** Lines `.gitattributes` has to have. */
  readonly attributes: readonly string[];
}

export interface InitPlan {
  readonly changes: readonly Change[];
  /** Paths that will be written, in order. */
  readonly created: readonly string[];
  /** The ignore line has to be added. */
  readonly ignores: boolean;
  /** Lines that have to be added to `.gitattributes`. */
  readonly attributes: readonly string[];
}

function info(request: InitRequest, name: string): ReturnType<System["info"]> {
  return request.system.info(join(request.repository.top, name) as AbsPath);
}

/** Refuses to begin where something is already in the place of a layer. */
function refuseExisting(request: InitRequest): void {
  if (info(request, ".majordomus") !== undefined) {
    throw new ReeveError("LAYER_EXISTS", ".majordomus/ holds project data in the layout before .ai/", {
      hint: "move it out of the repository first; nothing of it is read",
    });
  }
  const layer = info(request, ".ai");
  if (layer === undefined) return;
  if (layer.kind !== "directory") {
    throw new ReeveError("LAYER_EXISTS", describeSquatter(layer.kind), { hint: moveAside });
  }
  const inside = request.system.list(join(request.repository.top, ".ai") as AbsPath) ?? [];
  // A home alone is no layer: it is made before the layer is written.
  if (request.extend || inside.every((entry) => entry.name === "local")) return;
  const whole = info(request, ".ai/manifest.yaml") !== undefined;
  throw new ReeveError("LAYER_EXISTS", whole ? ".ai/ exists already" : ".ai/ exists, without a manifest", {
    hint: whole
      ? "reeve init --extend adds what is missing and overwrites nothing"
      : "move it aside (mv .ai .ai.aside), or let reeve init --extend add what is missing and overwrite nothing",
  });
}

/** Every file `reeve init` writes into the tracked half: its path there, and its name in the share. */
export function listShipped(share: Share): readonly (readonly [string, string])[] {
  const layer = share.list("skeleton/ai").map((name) => [`.ai/${name.slice(skeleton.length)}`, name] as const);
  const rule = share.list("rules").map((name) => [`${vendor}${name.slice(rules.length)}`, name] as const);
  return [...layer, ...rule].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Without white space at their ends, a carriage return among it. */
function readLines({ system, repository }: InitRequest, name: string): readonly string[] {
  const text = system.readText(join(repository.top, name) as AbsPath) ?? "";
  return text.split("\n").map((line) => line.trim());
}

/** The layer as changes: every shipped file the repository lacks, and what git is told of it. */
export function planInit(request: InitRequest): InitPlan {
  refuseExisting(request);
  const { repository, share } = request;
  const root = repository.top;
  const missing = listShipped(share).filter(([target]) => info(request, target) === undefined);
  const writes = missing.map(
    ([target, name]): Change => ({ kind: "write", root, path: target, bytes: share.read(name), expect: "absent" }),
  );
  const ignores = !readLines(request, ".gitignore").some((line) => /^\/?\.ai\/local$/.test(line));
  const ignore: readonly Change[] = ignores
    ? [{ kind: "append", root, path: ".gitignore", bytes: `${ignoreLine}\n` }]
    : [];
  const present = new Set(readLines(request, ".gitattributes"));
  const attributes = request.attributes.filter((line) => !present.has(line));
  const attribute = attributes.map(
    (line): Change => ({ kind: "append", root, path: ".gitattributes", bytes: `${line}\n` }),
  );
  return {
    changes: [...writes, ...ignore, ...attribute],
    created: missing.map(([target]) => target),
    ignores,
    attributes,
  };
}
