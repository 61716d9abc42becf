import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Api, differing, type Moment, type Subject } from "./subject.ts";

/** The number the document is to hold; it is restored from its copy where there is none. */
export type DocumentStep = { readonly do: "update"; readonly n: number } | { readonly do: "restore" };

const fileName = "state.json";
const damaged = '{"version":1,"n":';

/** The versioned document with a copy of its last good content; what lies there at first is damaged. */
export const documentSubject: Subject<DocumentStep> = {
  name: "a document",
  steps: (size) =>
    Array.from({ length: size }, (_, at) => (at % 6 === 5 ? { do: "restore" } : { do: "update", n: at + 1 })),
  prepare: (root) => writeFileSync(join(root, fileName), damaged),
  open: (api, root) => {
    const document = openNumber(api, root);
    return {
      run: async (step) => {
        if (step.do === "restore") await document.restore();
        else await document.update(() => ({ n: step.n, text: textOf(step.n) }));
      },
    };
  },
  look: (api, root) => {
    const found = describe(openNumber(api, root).read());
    // Damaged content is set aside before another one is written.
    return found === "absent" ? "damaged" : found;
  },
  check,
};

interface Numbered {
  readonly n: number;
  readonly text: string;
}

/** Longer for every third. */
function textOf(n: number): string {
  return `${n}${"x".repeat(n % 3 === 0 ? 5000 : n % 7)}`;
}

function openNumber(api: Api, root: string) {
  const parse = ({ n, text }: Readonly<Record<string, unknown>>): Numbered => {
    if (typeof n !== "number" || text !== textOf(n)) throw new Error("is another's");
    return { n, text };
  };
  return api.openDocument<Numbered>({ path: join(root, fileName), steps: [], parse, lastGood: true });
}

async function check(api: Api, root: string, moment: Moment<DocumentStep>): Promise<readonly string[]> {
  const findings: string[] = [];
  const numbers = moment.acknowledged.flatMap((step) => (step.do === "update" ? [step.n] : []));
  const last = numbers.at(-1);
  const possible = [last, ...(moment.underWay?.do === "update" ? [moment.underWay.n] : [])];
  const document = openNumber(api, root);
  const state = document.read();
  const found = state.kind === "loaded" ? state.value.n : undefined;
  if (!possible.includes(found)) findings.push(`it is ${describe(state)}, not one of ${possible.join()}`);
  if (last !== undefined && state.kind !== "loaded") findings.push(`it is ${state.kind}`);
  findings.push(...judgeCopy(root, api, possible), ...judgeDamaged(root));
  for (const n of [1000, 1001]) {
    await document.update(() => ({ n, text: textOf(n) }));
    findings.push(...differing("after an update, it", describe(document.read()), String(n)), ...judgeNames(root));
  }
  findings.push(...judgeDamaged(root));
  await document.restore();
  return [...findings, ...differing("after restoring, it", describe(document.read()), "1001")];
}

function describe(state: ReturnType<ReturnType<typeof openNumber>["read"]>): string {
  return state.kind === "loaded" ? String(state.value.n) : state.kind;
}

/** The copy is the document's content or the one before; where it is neither, its own writing is under way. */
function judgeCopy(root: string, api: Api, possible: readonly (number | undefined)[]): readonly string[] {
  const parse = ({ n }: Readonly<Record<string, unknown>>): { n: number } => ({ n: Number(n) });
  const copy = api.openDocument({ path: join(root, `${fileName}.last-good`), steps: [], parse }).read();
  const found = copy.kind === "loaded" ? copy.value.n : undefined;
  if (copy.kind === "damaged" || copy.kind === "newer") return [`its copy is ${copy.kind}`];
  return possible.includes(found) ? [] : [`its copy is ${found}, not one of ${possible.join()}`];
}

/** What was damaged is never thrown away; it may have two names while it is set aside. */
function judgeDamaged(root: string): readonly string[] {
  const names = readdirSync(root).filter((name) => name === fileName || name.startsWith(`${fileName}.corrupt-`));
  const kept = names.filter((name) => readFileSync(join(root, name), "utf8") === damaged);
  return kept.length > 0 ? [] : ["the damaged content is gone"];
}

function judgeNames(root: string): readonly string[] {
  const strange = readdirSync(root).filter(
    (name) => name !== fileName && name !== `${fileName}.last-good` && !name.startsWith(`${fileName}.corrupt-`),
  );
  const aside = readdirSync(root).filter((name) => name.startsWith(`${fileName}.corrupt-`));
  const findings = strange.length === 0 ? [] : [`left behind: ${strange.join(", ")}`];
  return aside.length > 1 ? [...findings, `set aside ${aside.length} times`] : findings;
}
