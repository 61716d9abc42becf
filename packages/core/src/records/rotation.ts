import type { Plan } from "@reeve/store";
import type { Head } from "../git/head.ts";
import { createChange, type Layer, replaceChange } from "../layer/layer.ts";
import { readPolicy } from "../policy/reader.ts";
import { policyValue } from "../policy/values.ts";
import { ledgerPath, renderEvent, stateFolder } from "./ledger.ts";
import { compactTimestamp } from "./time.ts";

export interface Rotation {
  readonly plan: Plan;
  readonly archived: number;
  readonly kept: number;
  readonly archive: string;
}

export interface RotationRequest {
  readonly layer: Layer;
  readonly head: Head;
  /** The ledger as it is now, where it changed since the layer was opened. */
  readonly bytes?: Uint8Array;
  /** Rotates only a ledger of more lines than this. */
  readonly cap: number;
  /** Lines that stay, the new `ledger.rotated` included. */
  readonly keep: number;
}

function lineStarts(bytes: Uint8Array): readonly number[] {
  const starts: number[] = bytes.length === 0 ? [] : [0];
  for (let at = bytes.indexOf(10); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(10, at + 1))
    starts.push(at + 1);
  return starts;
}

function freeName(layer: Layer): string {
  const stamp = compactTimestamp(layer.system.now());
  const taken = layer.list(stateFolder);
  let name = `ledger.${stamp}.jsonl.archived`;
  for (let count = 2; taken.includes(name); count += 1) name = `ledger.${stamp}-${count}.jsonl.archived`;
  return `${stateFolder}/${name}`;
}

/** Moves the older lines, byte for byte, into an archive; `undefined` while the ledger is within its cap. */
export function planLedgerRotation({ layer, head, cap, keep, ...given }: RotationRequest): Rotation | undefined {
  const bytes = given.bytes ?? layer.readBytes(ledgerPath);
  if (bytes === undefined) return undefined;
  const starts = lineStarts(bytes);
  if (starts.length <= cap) return undefined;
  const kept = Math.max(0, keep - 1);
  const archived = starts.length - kept;
  const cut = starts[archived] ?? bytes.length;
  const archive = freeName(layer);
  const payload = { archived, kept, archive };
  const guard = cut === bytes.length || bytes.at(-1) === 10 ? "" : "\n";
  const line = renderEvent(layer, head, { event: "ledger.rotated", payload });
  const rest = Buffer.concat([bytes.subarray(cut), Buffer.from(`${guard}${line}`)]);
  const changes = [
    createChange(layer, archive, bytes.subarray(0, cut)),
    replaceChange(layer, ledgerPath, { before: bytes, after: rest }),
  ];
  return { ...payload, plan: { changes } };
}

/** The rotation a writing command owes under the policy's `ledger.rotate: auto`; none while the policy does not parse. */
export async function planRotation(layer: Layer, head: Head): Promise<Plan | undefined> {
  const bytes = layer.system.readBytes(layer.locate(ledgerPath));
  if (bytes === undefined) return undefined;
  const policy = await readPolicy(layer).catch(() => undefined);
  if (policy?.ledger?.rotate !== "auto") return undefined;
  const cap = policyValue(policy, "ledger.retention_max_lines");
  return planLedgerRotation({ layer, head, bytes, cap, keep: Math.max(1, Math.floor((cap * 3) / 4)) })?.plan;
}
