import { ReeveError } from "../findings/errors.ts";
import type { GitReading } from "../git/reading.ts";
import type { Layer } from "../layer/layer.ts";
import type { Policy } from "../policy/policy.ts";
import { readPolicy } from "../policy/reader.ts";
import { readLedger } from "../records/ledger.ts";
import { readQuestions } from "../records/questions.ts";
import type { TaskSubject } from "../work/subject.ts";
import type { DoctrineInput, FinishRequest } from "./doctrine.ts";
import type { RuleSet } from "./resolve.ts";

export interface InputRequest {
  readonly layer: Layer;
  readonly git: GitReading;
  readonly runBy: DoctrineInput["runBy"];
  readonly set: RuleSet;
  readonly subject?: TaskSubject;
  readonly finish?: FinishRequest;
}

async function readPolicyIfSound(layer: Layer): Promise<Policy | undefined> {
  try {
    return await readPolicy(layer);
  } catch (error) {
    if (error instanceof ReeveError && (error.code === "POLICY_INVALID" || error.code === "MISSING_FILE"))
      return undefined;
    throw error;
  }
}

/** Reads once what the doctrines of a run share. */
export async function readDoctrineInput(request: InputRequest): Promise<DoctrineInput> {
  const { layer, git, runBy, set, subject, finish } = request;
  return {
    layer,
    git,
    runBy,
    set,
    policy: await readPolicyIfSound(layer),
    ledger: readLedger(layer),
    questions: readQuestions(layer),
    subject,
    finish,
  };
}
