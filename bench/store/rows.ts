import type { Durability, SubjectName } from "./job.ts";
import type { Against, Bound, Fixture, Rounds, Row, Series, Sizes } from "./plan.ts";

const atLeast = (value: number): Bound => ({ sense: "at least", value });
const atMost = (value: number): Bound => ({ sense: "at most", value });
const grouped = (count: number): string => count.toLocaleString("en-US");

type Peer = readonly [subject: SubjectName, name: string, bound?: Bound];

/** The same work by others. */
function compare(ours: Series, ...peers: readonly Peer[]): readonly Against[] {
  return peers.map(([subject, name, bound]) => {
    const fixture = ours.fixture === undefined ? {} : { fixture: { subject, lines: ours.fixture.lines } };
    const series: Series = { ...ours, ...fixture, subject };
    return bound === undefined ? { name, series } : { name, series, bound };
  });
}

const rate = { unit: "entries/s", figure: "rate", statistic: "median" } as const;
/** Opening in a new process, with what it takes to load the library. */
const loaded = { unit: "ms", figure: "loadedMs", statistic: "median" } as const;
const alone = { unit: "ms", figure: "ms", statistic: "median" } as const;

interface Appending {
  readonly entries: number;
  readonly durability: Durability;
  readonly callers: number | "queued";
}

function appendBy(appending: Appending): Series {
  return { subject: "reeve", work: { kind: "append", ...appending } };
}

function listUnsynced({ appended, rewritten }: Sizes): readonly Row[] {
  const queued = appendBy({ entries: appended, durability: "os", callers: "queued" });
  const awaited = appendBy({ entries: appended, durability: "os", callers: 1 });
  const few = appendBy({ entries: rewritten, durability: "os", callers: 1 });
  const others: readonly Peer[] = [
    ["lmdb", "lmdb"],
    ["plain", "bare write loop"],
  ];
  return [
    {
      ...rate,
      name: "append-queued",
      title: `append, not synced, ${grouped(appended)} queued by one caller`,
      ours: queued,
      against: compare(
        queued,
        ["better-sqlite3", "better-sqlite3 WAL NORMAL", atLeast(4)],
        ["nedb", "nedb", atLeast(20)],
        ...others,
      ),
    },
    {
      ...rate,
      name: "append-awaited",
      title: `append, not synced, ${grouped(appended)}, each awaited`,
      ours: awaited,
      against: [
        ...compare(awaited, ["better-sqlite3", "better-sqlite3 WAL NORMAL", atLeast(1)], ["nedb", "nedb"], ...others),
        ...compare(few, ["lowdb", `lowdb, ${grouped(rewritten)}`], ["conf", `conf (synced), ${grouped(rewritten)}`]),
      ],
    },
  ];
}

function listSynced({ synced, callers, perCaller }: Sizes): readonly Row[] {
  const single = appendBy({ entries: synced, durability: "fsync", callers: 1 });
  const shared = appendBy({ entries: callers * perCaller, durability: "fsync", callers });
  return [
    {
      ...rate,
      name: "append-synced",
      title: "append, synced, one writer",
      ours: single,
      against: compare(
        single,
        ["plain", "bare write + fdatasync loop", atLeast(0.9)],
        ["better-sqlite3", "better-sqlite3 WAL FULL", atLeast(0.9)],
        ["lmdb putSync", "lmdb putSync"],
      ),
    },
    {
      ...rate,
      name: "append-synced-64",
      title: `append, synced, ${callers} callers in one process`,
      ours: shared,
      against: compare(
        shared,
        ["better-sqlite3", "better-sqlite3 WAL FULL", atLeast(10)],
        ["lmdb", "lmdb", atLeast(1.2)],
      ),
    },
  ];
}

export function openBy(subject: SubjectName, lines: number): Series {
  return { subject, work: { kind: "open", lines }, fixture: { subject, lines } };
}

/** A file of a million lines is read a few times only. */
export const seldom: Rounds = { warm: 1, atMost: 3 };

function listOpening({ large, huge }: Sizes): readonly Row[] {
  const some = openBy("reeve", large);
  const many = openBy("reeve", huge);
  const others: readonly Peer[] = [
    ["better-sqlite3", "better-sqlite3, all rows"],
    ["lmdb", "lmdb, all entries"],
  ];
  return [
    {
      ...loaded,
      name: "open-100k",
      title: `strict open of ${grouped(large)} lines, no index`,
      ours: some,
      against: compare(
        some,
        ["plain", "read, split, parse", atMost(0.3)],
        ["better-sqlite3", "better-sqlite3, all rows", atMost(0.35)],
        ["lmdb", "lmdb, all entries"],
        ["nedb", "nedb"],
        ["lowdb", "lowdb"],
        ["conf", "conf"],
      ),
    },
    {
      ...loaded,
      name: "open-1m",
      title: `strict open of ${grouped(huge)} lines, no index`,
      ours: many,
      against: compare(many, ["plain", "read, split, parse", atMost(0.4)], ...others),
      rounds: seldom,
    },
    {
      unit: "MiB",
      figure: "peak",
      statistic: "median",
      name: "memory-1m",
      title: "the same, most memory resident",
      ours: many,
      bound: atMost(130),
      against: compare(many, ["plain", "read, split, parse"], ...others),
      rounds: seldom,
    },
  ];
}

function listReopening({ large }: Sizes): readonly Row[] {
  const fixture: Fixture = { subject: "reeve", lines: large, indexed: true };
  const ours: Series = { subject: "reeve", work: { kind: "reopen", lines: large }, fixture };
  return [
    {
      ...loaded,
      name: "reopen",
      title: `reopen with a valid index, ${grouped(large)} lines, get one`,
      ours,
      against: compare(ours, ["better-sqlite3", "better-sqlite3", atMost(0.2)], ["lmdb", "lmdb"]),
    },
    {
      ...alone,
      name: "reopen-loaded",
      title: "the same, the library loaded before",
      ours,
      against: compare(ours, ["better-sqlite3", "better-sqlite3"], ["lmdb", "lmdb"]),
    },
  ];
}

function listUsing({ large, lookups }: Sizes): readonly Row[] {
  const fixture: Fixture = { subject: "reeve", lines: large };
  const got: Series = { subject: "reeve", work: { kind: "get", lines: large, lookups }, fixture };
  const compacted: Series = { subject: "reeve", work: { kind: "compact", lines: large }, fixture };
  return [
    {
      ...alone,
      name: "get",
      title: `get ${grouped(lookups)} random keys after opening`,
      ours: got,
      against: compare(got, ["better-sqlite3", "better-sqlite3 prepared get", atMost(0.8)], ["lmdb", "lmdb"]),
    },
    {
      ...alone,
      name: "compact",
      title: `compact ${grouped(large)} lines`,
      ours: compacted,
      against: compare(
        compacted,
        ["better-sqlite3", "better-sqlite3 VACUUM", atMost(0.4)],
        ["plain", "write the same bytes, fsync, rename", atMost(3)],
        ["nedb", "nedb"],
      ),
    },
  ];
}

function listLocks({ locks }: Sizes): readonly Row[] {
  const cycled: Series = { subject: "reeve", work: { kind: "lock", times: locks } };
  const taken: Series = { subject: "reeve", work: { kind: "takeover" } };
  return [
    {
      unit: "µs",
      figure: "us",
      statistic: "median",
      name: "lock",
      title: "lock, acquire and release",
      ours: cycled,
      against: compare(
        cycled,
        ["plain", "exclusive create + unlink", atMost(1)],
        ["proper-lockfile", "proper-lockfile", atMost(0.1)],
      ),
    },
    {
      ...alone,
      name: "takeover",
      title: "takeover by a waiter after kill -9, the longest",
      statistic: "most",
      ours: taken,
      bound: atMost(100),
      against: compare(taken, ["proper-lockfile", "proper-lockfile, stale 2 s"]),
      rounds: { warm: 0, atMost: 5 },
    },
  ];
}

function listTorture({ tortureMs }: Sizes): readonly Row[] {
  const workers = 4;
  const ours: Series = { subject: "reeve", work: { kind: "torture", workers, milliseconds: tortureMs } };
  const against = compare(
    ours,
    ["naive", "naive takeover, as a control"],
    ["proper-lockfile", "proper-lockfile, stale 2 s"],
  );
  const common = { statistic: "most", ours, against, rounds: { warm: 0, atMost: 1 } } as const;
  return [
    {
      ...common,
      name: "torture",
      title: `torture: ${workers} processes, ${tortureMs / 1000} s, one of 20 holders killed`,
      unit: "violations",
      figure: "violations",
      bound: atMost(0),
    },
    {
      ...common,
      name: "torture-pace",
      title: "the same, times the lock was taken",
      unit: "acquisitions",
      figure: "acquisitions",
    },
  ];
}

/** The rows of the design's table, in its order. */
export function listRows(sizes: Sizes): readonly Row[] {
  const lists = [listUnsynced, listSynced, listOpening, listReopening, listUsing, listLocks, listTorture];
  return lists.flatMap((list) => list(sizes));
}
