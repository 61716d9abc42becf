import { createHash } from "node:crypto";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTree } from "../testing/tree.ts";
import { type Api, differing, type Moment, type Subject } from "./subject.ts";

export type BlobStep =
  | { readonly do: "put" | "stream"; readonly text: string }
  | { readonly do: "remove"; readonly text: string };

/** Contents by their hash; there is one already, under another's. */
export const blobsSubject: Subject<BlobStep> = {
  name: "blobs",
  steps: (size) => Array.from({ length: size }, (_, at) => stepAt(at)),
  prepare: (root) => {
    const path = pathOf(root, mended);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "something else");
  },
  open: (api, root) => {
    const blobs = api.openBlobs({ path: join(root, "blobs") });
    return {
      run: async (step) => {
        if (step.do === "remove") await blobs.remove(hashOf(step.text));
        else await blobs.put(step.do === "put" ? step.text : piecesOf(step.text));
      },
    };
  },
  look: (api, root) => {
    const blobs = api.openBlobs({ path: join(root, "blobs") });
    return [...blobs.hashes()].filter((hash) => hash !== hashOf(mended) || isGood(blobs, hash)).join();
  },
  check,
};

const mended = "content 4";

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function isGood(blobs: ReturnType<Api["openBlobs"]>, hash: string): boolean {
  try {
    return blobs.get(hash) !== undefined;
  } catch {
    return false;
  }
}

function pathOf(root: string, text: string): string {
  const hash = hashOf(text);
  return join(root, "blobs", hash.slice(0, 2), hash);
}

async function* piecesOf(text: string): AsyncGenerator<Buffer> {
  for (const half of [text.slice(0, 3), text.slice(3)]) yield Buffer.from(half);
}

/** Some contents come again, and some are taken away and come again. */
function stepAt(at: number): BlobStep {
  const text = `content ${at % 10 === 9 ? at - 3 : at % 7 === 6 ? at - 5 : at}`;
  if (at % 5 === 3) return { do: "remove", text: `content ${at - 2}` };
  return { do: at % 3 === 1 ? "stream" : "put", text };
}

async function check(api: Api, root: string, moment: Moment<BlobStep>): Promise<readonly string[]> {
  const blobs = api.openBlobs({ path: join(root, "blobs") });
  const there = new Set<string>();
  for (const { do: what, text } of moment.acknowledged) {
    if (what === "remove") there.delete(hashOf(text));
    else there.add(hashOf(text));
  }
  const begun = moment.underWay === undefined ? undefined : hashOf(moment.underWay.text);
  const findings: string[] = [];
  const isMended = there.has(hashOf(mended));
  for await (const problem of blobs.verify()) {
    if (problem.kind === "content" && problem.path === pathOf(root, mended) && !isMended) continue;
    if (problem.kind !== "temporary" && problem.kind !== "set-aside") findings.push(JSON.stringify(problem));
  }
  const found = [...blobs.hashes()].filter((hash) => hash !== begun && (isMended || hash !== hashOf(mended)));
  findings.push(...differing("the hashes", found.sort(), [...there].filter((hash) => hash !== begun).sort()));
  for (const hash of there) if (hash !== begun && blobs.get(hash) === undefined) findings.push(`${hash} is gone`);
  for (const text of ["probe", mended]) {
    const { hash } = await blobs.put(text);
    findings.push(...differing("a new blob", blobs.get(hash)?.toString(), text));
  }
  await blobs.remove(hashOf("probe"));
  for (const path of readTree(root).keys()) if (path.endsWith(".tmp")) utimesSync(join(root, path), 1, 1);
  await blobs.sweep(() => true);
  const strange = [...readTree(root).keys()].filter((path) => /\.tmp$|lock/.test(path));
  return strange.length === 0 ? findings : [...findings, `left behind: ${strange.join(", ")}`];
}
