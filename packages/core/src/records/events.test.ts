import { describe, expect, test } from "vitest";
import {
  type EventName,
  type EventSchema,
  envelopeMembers,
  events,
  isEventName,
  type MemberType,
  payloadProblem,
} from "./events.ts";

const samples: Readonly<Record<MemberType, unknown>> = {
  text: "a",
  number: 1,
  boolean: false,
  texts: ["a"],
  map: { a: 1 },
  "map-or-null": null,
};

const values: readonly unknown[] = [null, "a", 1, true, [], ["a"], [1], {}, undefined];
const fits: Readonly<Record<MemberType, readonly number[]>> = {
  text: [1],
  number: [2],
  boolean: [3],
  texts: [4, 5],
  map: [7],
  "map-or-null": [0, 7],
};

const names = Object.keys(events) as EventName[];

function sample(name: EventName): Record<string, unknown> {
  const schema: EventSchema = events[name];
  const members = Object.entries({ ...schema.requires, ...schema.allows });
  return Object.fromEntries(members.map(([member, type]) => [member, samples[type]]));
}

/** One line of each event, as the reference has it. */
const written: Readonly<Record<EventName, Readonly<Record<string, unknown>>>> = {
  "task.started": { task_id: "t", task: "fix it", profile: "implementation", owner: "ada", scope: ["src"] },
  "task.checkpoint": { task_id: "t", checkpoint_path: "a.md" },
  "task.handed_over": { task_id: "t", handover_path: "a.md", closed: true },
  "task.finished": { task_id: "t", outcome: "completed", contract: { a: "pass" }, verify: null, checkpoints: 2 },
  "task.refused": {
    task_id: "t",
    outcome: "completed",
    unmet: ["a"],
    verify: { command: "true", exit: 0, seconds: 1 },
  },
  "decision.recorded": { task_id: "t", decision: "a" },
  "question.opened": { task_id: "t", question: "a" },
  "question.resolved": { task_id: "t", question: "a", answer: "b" },
  "ledger.rotated": { archived: 1, kept: 2, archive: "a" },
};
const optional: readonly string[] = ["task_id", "checkpoint_path"];

describe("payloadProblem", () => {
  test("payloadProblem knows the events of the reference, with what each must and may hold", () => {
    expect(Object.keys(written).sort()).toEqual([...names].sort());
    for (const name of names) {
      expect([name, payloadProblem(name, written[name])]).toEqual([name, undefined]);
      for (const [member, value] of Object.entries(written[name])) {
        const other = typeof value === "string" ? 5 : "text";
        expect([name, member, payloadProblem(name, { ...written[name], [member]: other })]).not.toContain(undefined);
        const { [member]: _left, ...rest } = written[name];
        const may =
          optional.includes(member) && !(member === "task_id" && /^task\.(?:started|finished|refused)/.test(name));
        expect([name, member, payloadProblem(name, rest) === undefined]).toEqual([name, member, may]);
      }
    }
  });

  test.each(names)(
    "payloadProblem finds nothing wrong with a whole %s, nor with one of required members alone",
    (name) => {
      const required = Object.keys(events[name].requires);
      expect(payloadProblem(name, sample(name))).toBeUndefined();
      const least = Object.fromEntries(Object.entries(sample(name)).filter(([member]) => required.includes(member)));
      expect(payloadProblem(name, least)).toBeUndefined();
    },
  );

  test.each(names)("payloadProblem names each required member a %s lacks", (name) => {
    for (const member of Object.keys(events[name].requires)) {
      const { [member]: _left, ...payload } = sample(name);
      expect(payloadProblem(name, payload)).toBe(`${name} lacks '${member}'`);
    }
  });

  test.each(names)("payloadProblem names each member of a %s that is of another type", (name) => {
    const schema: EventSchema = events[name];
    for (const [member, type] of Object.entries({ ...schema.requires, ...schema.allows })) {
      values.forEach((value, index) => {
        const problem = payloadProblem(name, { ...sample(name), [member]: value });
        if (fits[type].includes(index)) expect(problem, `${member} ${index}`).toBeUndefined();
        else expect(problem, `${member} ${index}`).toContain(`'${member}'`);
      });
    }
  });

  test("payloadProblem lets members pass that a newer Reeve added", () => {
    expect(payloadProblem("task.checkpoint", { tomorrow: [1] })).toBeUndefined();
  });

  test("payloadProblem takes no member from the prototype", () => {
    const payload = Object.create({ decision: "inherited" }) as Record<string, unknown>;
    expect(payloadProblem("decision.recorded", payload)).toBe("decision.recorded lacks 'decision'");
  });
});

describe("isEventName", () => {
  test("isEventName knows the closed vocabulary and nothing else", () => {
    expect(names.every(isEventName)).toBe(true);
    for (const other of ["", "task", "task.Started", "toString", "__proto__", "constructor"])
      expect(isEventName(other), other).toBe(false);
  });

  test("events claim no member of the envelope for their payload", () => {
    for (const name of names)
      for (const member of Object.keys(sample(name))) expect(envelopeMembers).not.toContain(member);
  });
});
