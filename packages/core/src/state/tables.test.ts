import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outsideFolders } from "./outside.ts";
import { table as layerTable } from "./table.ts";

const tables = [{ name: "the repository", table: layerTable }, ...outsideFolders];

describe.each(tables)("the table of $name", ({ table }) => {
  const names = [...table.entries.map(({ path }) => path), ...Object.values(table.roots).flat()].map((path) =>
    path.replace(/\*$/, "x"),
  );
  const segment = fc.oneof(
    fc.constantFrom("..", ".", "a", "A.lock", ".a.1.b.tmp", "x.corrupt-1", "token", " ", "é", "a.idx", ".git"),
    fc.string({ maxLength: 8 }),
  );
  const spelling = fc.constantFrom<(path: string) => string>(
    (path) => path,
    (path) => path.toUpperCase(),
    (path) => path.replaceAll("/", "\\"),
    (path) => `x/../${path}`,
    (path) => path.replaceAll("/", "//./"),
  );
  const anyPath = fc
    .tuple(fc.constantFrom("", ...names), fc.array(segment, { maxLength: 4 }), spelling)
    .map(([start, rest, spell]) => {
      const path = [start.replace(/\/$/, ""), ...rest].filter(Boolean).join("/");
      return { path, spelled: spell(path) };
    });

  test("carries, finds and serves nothing in secrets or identity, however it is spelled", () => {
    const met = { locked: 0, open: 0 };
    fc.assert(
      fc.property(anyPath, ({ path, spelled }) => {
        const group = table.groupOf(path);
        const { carried, searched, backedUp, tracked, locked } = table.explain(spelled);
        const isPrivate = group === "secrets" || group === "identity";
        met[isPrivate ? "locked" : "open"] += 1;
        if (!isPrivate) return;
        expect({ searched, tracked, locked, isTaken: carried === "yes" || carried === "with-prompts" }).toEqual({
          searched: false,
          tracked: false,
          locked: true,
          isTaken: false,
        });
        if (group === "secrets") expect(backedUp).toBe(false);
        else expect(carried).toBe("never");
      }),
      { numRuns: 3000 },
    );
    const isThere = table.roots.secrets.length + table.roots.identity.length > 0;
    expect([met.locked > 0, met.open > 0]).toEqual([isThere, true]);
  });

  test("has every entry in one class, and every one either in the backup or not", () => {
    for (const entry of table.entries) {
      const { group, backedUp, tracked, carried } = table.traitsOf(entry);
      const holding = Object.entries(table.roots).filter(([, roots]) =>
        roots.some((root) => (root.endsWith("/") ? entry.path.startsWith(root) : root === entry.path)),
      );
      expect(
        holding.map(([name]) => name),
        entry.path,
      ).toEqual([group]);
      expect(table.explain(entry.path.replace(/\*$/, "x")), entry.path).toMatchObject({ group, backedUp });
      expect(tracked, entry.path).toBe(entry.versioned === true);
      if (tracked) expect([entry.portability, carried], entry.path).toEqual(["carry", entry.travels ?? "yes"]);
    }
  });
});
