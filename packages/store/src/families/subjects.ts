import { blobsSubject } from "./blobs-subject.ts";
import { documentSubject } from "./document-subject.ts";
import { logSubject } from "./log-subject.ts";
import { planSubject } from "./plan-subject.ts";
import { storeRuns, storeSubject } from "./store-subject.ts";
import type { Subject } from "./subject.ts";

const all = [...storeRuns.map(storeSubject), logSubject, documentSubject, planSubject, blobsSubject];

/** Every part of the library that is interrupted, by name. What its steps are, only itself needs to know. */
export const subjects: Readonly<Record<string, Subject<unknown>>> = Object.fromEntries(
  all.map((subject) => [subject.name, subject as Subject<unknown>]),
);
