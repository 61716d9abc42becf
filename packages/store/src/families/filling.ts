import type { Api } from "./subject.ts";

/** How far a disk was filled. */
export interface Filled {
  readonly acknowledged: number;
  readonly code: string;
  readonly path: string | undefined;
}

/** Puts one entry after the other, from number 1 on, until one is refused. Throws when something else was thrown. */
export async function fillStore(api: Api, put: (n: number) => Promise<void>): Promise<Filled> {
  for (let acknowledged = 0; ; acknowledged += 1) {
    try {
      await put(acknowledged + 1);
    } catch (error) {
      if (!(error instanceof api.StoreError)) throw error;
      return { acknowledged, code: error.code, path: error.path };
    }
  }
}
