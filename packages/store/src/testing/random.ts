/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0 to one less than `limit`. */
  below(limit: number): number;
  /** One of the items. */
  pick<Item>(items: readonly Item[]): Item;
}

/** Mulberry32: one 32-bit state, a Weyl sequence and two mixing steps. */
export function newRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("there is nothing to pick from");
      return item;
    },
  };
}
