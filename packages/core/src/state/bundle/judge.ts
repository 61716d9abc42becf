import { isDerivedSpelling } from "@reeve/store/table";
import { ReeveError } from "../../findings/errors.ts";
import { limits } from "./limits.ts";
import { type BundledFile, type Manifest, refuseBundle } from "./manifest.ts";
import { findClash, judgeName } from "./names.ts";
import type { StateTree } from "./tree.ts";

/**
 * Refuses a manifest that names what may not come in: bad and clashing names, too much, what the table does not declare,
 * keeps at home, or holds for another class than the bundle says.
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
  const entry = table.entryFor(file.path);
  if (entry === undefined || isDerivedSpelling(file.path)) return "is not declared in the state table";
  if (group !== file.group) return `is ${group} here and ${file.group} in the bundle`;
  const { carried } = table.traitsOf(entry);
  if (carried === "never") return "does not travel: it belongs to one checkout";
  if (carried === "with-prompts" && !includes.prompts) return "is a prompt, and the export was made without prompts";
  return undefined;
}

/** The second consent: the exporter's alone brings no secret in. */
export function requireConsent(files: readonly BundledFile[], secrets: boolean, bundle: string): void {
  const secret = files.find(({ group }) => group === "secrets");
  if (secret === undefined || secrets) return;
  throw new ReeveError("REFUSED", `${bundle}: holds secrets, such as ${secret.path}; nothing was written`, {
    hint: "--include-secrets takes them too; --only <path> leaves them out",
  });
}
