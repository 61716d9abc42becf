import type { Decoded, DocumentKinds, Problem } from "../documents/kinds.ts";
import { ReeveError } from "../findings/errors.ts";
import type { Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";
import type { Policy, Profile } from "./policy.ts";
import { policyPath } from "./values.ts";

export function profilePath(name: string): string {
  return statePath(".ai/repo/profiles/", `${name}.yaml`);
}

function renderProblem(path: string, problem: Problem): string {
  return `${path}:${problem.line}: ${problem.message}`;
}

/** Decodes one YAML document of the layer; throws `MISSING_FILE` when it is not there. */
export async function decodeLayerFile<K extends keyof DocumentKinds>(
  layer: Layer,
  kind: K,
  path: string,
): Promise<Decoded<DocumentKinds[K]>> {
  const text = layer.read(path);
  if (text === undefined) {
    throw new ReeveError("MISSING_FILE", `${path} is missing`, {
      hint: "reeve init --extend adds what is missing and overwrites nothing",
      details: { path },
    });
  }
  return layer.documents.decode(kind, path, text);
}

function valueOrThrow<T>(path: string, decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value;
  const [first] = decoded.problems;
  const said = decoded.problems.map((problem) => renderProblem(path, problem)).join("; ");
  throw new ReeveError("POLICY_INVALID", said, {
    hint: first?.hint ?? `mend ${path}, then: reeve doctor --rule policy-integrity`,
    details: { path, line: first?.line, key: first?.key },
  });
}

export async function readPolicy(layer: Layer): Promise<Policy> {
  return valueOrThrow(policyPath, await decodeLayerFile(layer, "policy", policyPath));
}

export async function readProfile(layer: Layer, name: string): Promise<Profile> {
  const path = profilePath(name);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || layer.read(path) === undefined) {
    const known = listProfiles(layer);
    throw new ReeveError("NOT_FOUND", `there is no profile '${name}'`, {
      hint: known.length > 0 ? `profiles here: ${known.join(", ")}` : "reeve init --extend",
      details: { path },
    });
  }
  return valueOrThrow(path, await decodeLayerFile(layer, "profile", path));
}

export function listProfiles(layer: Layer): readonly string[] {
  return layer
    .list(statePath(".ai/repo/profiles/"))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => name.slice(0, -".yaml".length));
}
