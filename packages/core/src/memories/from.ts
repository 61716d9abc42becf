import type { AbsPath } from "../system/paths.ts";

/** Where a source comes from (seed `state-intent`, "The schema": `intent.from`). `ref` is `HEAD` for the default branch's head. */
export type From =
  | { readonly type: "github"; readonly repo: string; readonly ref: string; readonly host?: string }
  | { readonly type: "git"; readonly url: string; readonly ref: string }
  | { readonly type: "local"; readonly path: AbsPath; readonly live?: true };

/** What identifies a source in `state.json`, with `#<ref>` when it is pinned; never a memory's name. */
export function keyOf(from: From): string {
  switch (from.type) {
    case "github":
      return pinned(`@${from.host === undefined ? "" : `${from.host}/`}${from.repo}`, from.ref);
    case "git":
      return pinned(from.url, from.ref);
    case "local":
      return from.path;
  }
}

function pinned(key: string, ref: string): string {
  return ref === "HEAD" ? key : `${key}#${ref}`;
}

/** Two keys that name one source: GitHub takes names of different case for one, a pin is taken as typed. */
export function foldKey(from: From): string {
  return from.type === "github" ? keyOf({ ...from, repo: from.repo.toLowerCase() }) : keyOf(from);
}
