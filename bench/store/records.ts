/** The entry every subject keeps: flat, about 216 bytes as a line of JSON. */
export interface JobRecord {
  readonly id: string;
  readonly body: string;
  readonly owner: string;
  readonly rev: number;
  readonly status: string;
  readonly tags: string;
  readonly title: string;
  readonly updated: string;
}

export function keyOf(index: number): string {
  return `job-${String(index).padStart(7, "0")}`;
}

/** Version `rev` of the entry of one key, the same in every run. */
export function makeRecord(key: number, rev: number): JobRecord {
  const salt = (Math.imul(rev + 1, 2_654_435_761) >>> 0).toString(36);
  return {
    id: keyOf(key),
    body: `lorem ipsum dolor amet ${salt.padStart(9, "-")}`,
    owner: `someone${key % 97}`,
    rev,
    status: rev % 3 === 0 ? "done" : "open",
    tags: "alpha,beta,gamma",
    title: `Title of the entry number ${key}`,
    updated: "2026-11-30T12:00:00.000Z",
  };
}

/** Entries of so many keys, each once, beginning at one. */
export function makeFresh(count: number, first = 0): readonly JobRecord[] {
  return Array.from({ length: count }, (_, at) => makeRecord(first + at, at));
}

/** How many keys a file of so many lines holds: each was put twice, which is as far as a file grows before compaction. */
export function keysIn(lines: number): number {
  return Math.ceil(lines / 2);
}

/** What a file of so many lines was made of, in order. */
export function* listPuts(lines: number): Generator<JobRecord> {
  const keys = keysIn(lines);
  for (let line = 0; line < lines; line += 1) yield makeRecord(line % keys, line);
}

/** Keys in no order, the same in every run (a linear congruential generator). */
export function pickKeys(count: number, keys: number): readonly string[] {
  let state = 12_345;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return keyOf((state >>> 8) % keys);
  });
}
