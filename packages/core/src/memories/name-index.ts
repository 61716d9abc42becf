/** What one source wants to be known under here, after selection and renames. */
export interface NameClaim {
  readonly key: string;
  /** When it was installed, ISO 8601 in UTC with milliseconds. */
  readonly addedAt: string;
  readonly names: readonly string[];
}

export interface NameCollision {
  readonly name: string;
  readonly key: string;
  /** The source that has the name. */
  readonly heldBy: string;
}

export interface NameIndex {
  /** Name to the key of the source that has it. */
  readonly owners: ReadonlyMap<string, string>;
  readonly collisions: readonly NameCollision[];
}

/**
 * Gives each name to one source: first to the one whose it is on the disk, then to the one installed first. A source that
 * starts to ship a name another one owns collides and takes nothing over (reference memories, section 2.6). Names that
 * differ in case alone are one, for they are one file on many disks.
 */
export function indexNames(claims: readonly NameClaim[], held: ReadonlyMap<string, string>): NameIndex {
  const order = [...claims].sort((left, right) => compare(left.addedAt, right.addedAt) || compare(left.key, right.key));
  const folded = new Map<string, string>();
  for (const { key, names } of order) {
    for (const name of names) if (held.get(name) === key) folded.set(fold(name), key);
  }
  const owners = new Map<string, string>();
  const collisions: NameCollision[] = [];
  for (const { key, names } of order) {
    for (const name of names) {
      const heldBy = folded.get(fold(name)) ?? key;
      folded.set(fold(name), heldBy);
      if (heldBy === key) owners.set(name, key);
      else collisions.push({ name, key, heldBy });
    }
  }
  return { owners, collisions };
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
