/** What a payload member may hold. */
export type MemberType = "text" | "number" | "boolean" | "texts" | "map" | "map-or-null";

export interface EventSchema {
  readonly summary: string;
  readonly requires: Readonly<Record<string, MemberType>>;
  readonly allows: Readonly<Record<string, MemberType>>;
}

/** The closed vocabulary of the ledger (reference 1.8): one entry per event. */
export const events = {
  "task.started": {
    summary: "a task began",
    requires: { task_id: "text", task: "text", profile: "text", owner: "text", scope: "texts" },
    allows: { requires: "texts", issue: "text", intent: "text", exempt: "map" },
  },
  "task.checkpoint": {
    summary: "progress was recorded",
    requires: {},
    allows: { task_id: "text", checkpoint_path: "text" },
  },
  "task.handed_over": {
    summary: "a continuation record was written",
    requires: { handover_path: "text", closed: "boolean" },
    allows: { task_id: "text" },
  },
  "task.finished": {
    summary: "a task ended, its contract met",
    requires: {
      task_id: "text",
      outcome: "text",
      contract: "map",
      verify: "map-or-null",
      checkpoints: "number",
    },
    allows: { tree: "text", note: "text" },
  },
  "task.refused": {
    summary: "a finish was refused",
    requires: { task_id: "text", outcome: "text", unmet: "texts", verify: "map-or-null" },
    allows: {},
  },
  "decision.recorded": {
    summary: "a decision was recorded",
    requires: { decision: "text" },
    allows: { task_id: "text", supersedes: "text" },
  },
  "question.opened": { summary: "a question was opened", requires: { question: "text" }, allows: { task_id: "text" } },
  "question.resolved": {
    summary: "a question was answered",
    requires: { question: "text", answer: "text" },
    allows: { task_id: "text" },
  },
  "ledger.rotated": {
    summary: "older lines were moved to an archive",
    requires: { archived: "number", kept: "number", archive: "text" },
    allows: {},
  },
} as const;

export type EventName = keyof typeof events;

export const envelopeMembers: readonly string[] = ["branch", "by", "event", "head", "session", "ts"];

const accepts: Readonly<Record<MemberType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  texts: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  map: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "map-or-null": (value) => typeof value === "object" && !Array.isArray(value),
};

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(events, name);
}

interface Check {
  readonly member: string;
  readonly type: MemberType;
  readonly required: boolean;
}

const checks = new Map<EventName, readonly Check[]>();

/** The members of an event as one list, made once: a ledger has thousands of lines. */
function checksOf(name: EventName): readonly Check[] {
  const known = checks.get(name);
  if (known !== undefined) return known;
  const schema: EventSchema = events[name];
  const list = (members: EventSchema["requires"], required: boolean): readonly Check[] =>
    Object.entries(members).map(([member, type]) => ({ member, type, required }));
  const made = [...list(schema.requires, true), ...list(schema.allows, false)];
  checks.set(name, made);
  return made;
}

/** What is wrong with a payload, or `undefined`. Members a newer Reeve added are nobody's fault and pass. */
export function payloadProblem(name: EventName, payload: Readonly<Record<string, unknown>>): string | undefined {
  for (const { member, type, required } of checksOf(name)) {
    const absent = !Object.hasOwn(payload, member);
    if (absent && !required) continue;
    if (absent) return `${name} lacks '${member}'`;
    if (!accepts[type](payload[member])) return `'${member}' of ${name} is not ${type}`;
  }
  return undefined;
}
