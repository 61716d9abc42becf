/** An entry of the runs: `n` counts, and `text` can be told from half of it or another's. */
export interface Item {
  readonly id: string;
  readonly n: number;
  readonly text: string;
}

export type StoreStep =
  | { readonly do: "put"; readonly items: readonly Item[] }
  /** Single puts asked for at once. */
  | { readonly do: "together"; readonly items: readonly Item[] }
  | { readonly do: "remove"; readonly id: string }
  | { readonly do: "compact" }
  | { readonly do: "reopen" };

/** What a store holds: `n` by key, in order. */
export type World = ReadonlyMap<string, number>;

export function itemOf(id: string, n: number, length = 0): Item {
  return { id, n, text: `${id}#${n}${"é".repeat(n % 5)}${"x".repeat(length)}` };
}

/** Is it an item just as it was put? */
export function isWhole(item: Partial<Item> | undefined): item is Item {
  if (item === undefined || typeof item.id !== "string" || typeof item.n !== "number") return false;
  const start = `${item.id}#${item.n}${"é".repeat(item.n % 5)}`;
  return Object.keys(item).length === 3 && typeof item.text === "string" && item.text.replace(/x*$/, "") === start;
}

/** What a step changes, one line after the other. */
export function linesOf(step: StoreStep | undefined): readonly (Item | { readonly removed: string })[] {
  switch (step?.do) {
    case "put":
    case "together":
      return step.items;
    case "remove":
      return [{ removed: step.id }];
    default:
      return [];
  }
}

/** The worlds a step leads through, one line at a time; the first is the one before it. */
export function worldsOf(before: World, step: StoreStep | undefined): readonly World[] {
  const worlds = [before];
  let world = before;
  for (const line of linesOf(step)) {
    const next = new Map(world);
    if ("removed" in line) next.delete(line.removed);
    else next.set(line.id, line.n);
    worlds.push(next);
    world = next;
  }
  return worlds;
}

/** What was ever said of each key, by the steps of a run. */
export class History {
  readonly #initial: World;
  #steps: readonly StoreStep[] = [];
  #worlds: World[] = [];
  #values = new Map<string, Set<number | undefined>>();

  constructor(initial: World) {
    this.#initial = initial;
  }

  /** The world after these steps, of which there are more at every call, until a run begins anew. */
  after(steps: readonly StoreStep[]): World {
    if (this.#worlds.length === 0 || this.#steps[0] !== steps[0]) this.#begin();
    this.#steps = steps;
    for (let at = this.#worlds.length - 1; at < steps.length; at += 1) {
      const step = steps[at];
      const last = this.#worlds[at] ?? this.#initial;
      this.#worlds.push(worldsOf(last, step).at(-1) ?? last);
      this.#note(step);
    }
    return this.#worlds[steps.length] ?? this.#initial;
  }

  /** Every value a key had up to now; `undefined` stands for none. */
  valuesOf(id: string): ReadonlySet<number | undefined> {
    return this.#values.get(id) ?? new Set([undefined]);
  }

  #begin(): void {
    this.#worlds = [this.#initial];
    this.#values = new Map([...this.#initial].map(([id, n]) => [id, new Set([n])]));
  }

  #note(step: StoreStep | undefined): void {
    for (const line of linesOf(step)) {
      const [id, n] = "removed" in line ? [line.removed, undefined] : [line.id, line.n];
      const values = this.#values.get(id) ?? new Set([undefined]);
      this.#values.set(id, values.add(n));
    }
  }
}
