import type { Finding } from "../findings/finding.ts";
import type { GitReading } from "../git/reading.ts";
import type { Layer } from "../layer/layer.ts";
import type { Policy } from "../policy/policy.ts";
import type { Ledger } from "../records/ledger.ts";
import type { Questions } from "../records/questions.ts";
import type { WatchedResult } from "../system/port.ts";
import type { TaskSubject } from "../work/subject.ts";
import type { TaskOutcome } from "../work/task.ts";
import type { RuleSet } from "./resolve.ts";

/** What a verification command did; `supposed` stands for one that a dry run did not start. */
export interface Verification {
  readonly supposed?: true;
  readonly command: string;
  readonly result: WatchedResult;
  readonly treeBefore: string;
  readonly treeAfter: string;
}

/** What `finish` asks of its doctrines. */
export interface FinishRequest {
  readonly outcome: Exclude<TaskOutcome, "active" | "handed_over">;
  readonly verification: Verification | undefined;
  /** The note that would be kept: its body, and where it comes from in words. */
  readonly note: { readonly body: string; readonly from: string } | undefined;
}

/** One reading of the repository, shared by every doctrine of a run. */
export interface DoctrineInput {
  readonly layer: Layer;
  readonly git: GitReading;
  readonly runBy: "doctor" | "check" | "finish";
  /** `undefined` when the policy does not parse; `policy-integrity` says so. */
  readonly policy: Policy | undefined;
  readonly ledger: Ledger;
  readonly questions: Questions;
  /** The rules of the layer. */
  readonly set: RuleSet;
  readonly subject: TaskSubject | undefined;
  readonly finish: FinishRequest | undefined;
}

/** A rule's validator. The rule text in the layer says when it runs; the code says how. */
export interface Doctrine {
  /** The rule's id without its namespace; also the name of the rule's file and of this validator. */
  readonly id: string;
  readonly category: string;
  readonly validate: (input: DoctrineInput) => readonly Finding[] | Promise<readonly Finding[]>;
}

export function defineDoctrine(doctrine: Doctrine): Doctrine {
  return doctrine;
}

/** Findings of a validator that judges a task, when there is none. */
export function requireSubject(input: DoctrineInput): TaskSubject {
  if (input.subject === undefined) throw new Error("a doctrine about a task was run without one");
  return input.subject;
}

export function requirePolicy(input: DoctrineInput): Policy {
  if (input.policy === undefined) throw new Error("a doctrine that needs the policy was run without one");
  return input.policy;
}
