import { isDerivedSpelling } from "@reeve/store/table";
import { ReeveError } from "../../findings/errors.ts";
import { limits } from "./limits.ts";
import { type BundledFile, type Manifest, refuseBundle } from "./manifest.ts";
import { findClash, judgeName } from "./names.ts";
import type { StateTree } from "./tree.ts";

/**
 * Refuses a manifest that names what may not come in: bad and clashing names, too much, what the table keeps at home, or
 * holds for another class than the bundle says. What the table does not declare is refused when it is asked for.
 * @throws ReeveError REFUSED, naming bundle and path
 */
export function judgeManifest(manifest: Manifest, tree: StateTree, bundle: string): void {
  const { files } = manifest;
  if (files.length > limits.files) throw refuseBundle(bundle, `holds more than ${limits.files} files`);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.totalBytes) throw refuseBundle(bundle, `unpacks to more than ${limits.totalBytes} bytes`);
  for (const { path } of files) {
    const wrong = judgeName(path);
    if (wrong !== undefined) throw refuseBundle(bundle, `${JSON.stringify(path)} ${wrong}`);
  }
  const clash = findClash(files.map(({ path }) => path));
  if (clash !== undefined) throw refuseBundle(bundle, clash);
  for (const file of files) {
    const wrong = judgeClass(file, manifest, tree);
    if (wrong !== undefined) throw refuseBundle(bundle, `${file.path} ${wrong}`);
  }
}

function judgeClass(file: BundledFile, { includes }: Manifest, { table }: StateTree): string | undefined {
  const group = table.groupOf(file.path);
  if (group === "identity") return "is identity, which never travels";
  if (group === "secrets" && !includes.secrets) return "is a secret, and the export was made without secrets";
  if (isDerivedSpelling(file.path)) return "is a lock, index or copy of another file";
  if (group === undefined) return "lies in no folder of the state table";
  const entry = table.entryFor(file.path);
  if (entry === undefined) return undefined;
  if (group !== file.group) return `is ${group} here and ${file.group} in the bundle`;
  const { carried } = table.traitsOf(entry);
  if (carried === "never") return "does not travel: it belongs to one checkout";
  if (carried === "with-prompts" && !includes.prompts) return "is a prompt, and the export was made without prompts";
  return undefined;
}

const contributed = ".ai/repo/state.jsonl";

/** Refuses what no entry here declares, naming the first, and what would declare it. */
export function requireDeclared(chosen: readonly BundledFile[], { files }: Manifest, request: Judging): void {
  const file = chosen.find(({ path }) => request.tree.table.entryFor(path) === undefined);
  if (file === undefined) return;
  const declares = files.some(({ path }) => path === contributed);
  throw new ReeveError(
    "REFUSED",
    `${request.shown}: ${file.path} is not declared in the state table here; nothing was written`,
    {
      hint: declares
        ? `take the bundle's declarations first: reeve state import <file> --only ${contributed}; they need a look, as code does`
        : `declare it in ${contributed}, or leave it out: --only <path> takes what you name`,
      details: { path: file.path },
    },
  );
}

interface Judging {
  readonly tree: StateTree;
  /** The bundle as the person named it. */
  readonly shown: string;
}

/** The second consent: the exporter's alone brings no secret in. */
export function requireConsent(files: readonly BundledFile[], secrets: boolean, bundle: string): void {
  const secret = files.find(({ group }) => group === "secrets");
  if (secret === undefined || secrets) return;
  throw new ReeveError("REFUSED", `${bundle}: holds secrets, such as ${secret.path}; nothing was written`, {
    hint: "--include-secrets takes them too; --only <path> leaves them out",
  });
}
