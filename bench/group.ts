/** What one run of a group is asked for. */
export interface GroupRequest {
  /** The repository. */
  readonly root: string;
  /** The run's own, empty, removed after it. */
  readonly folder: string;
  /** Timed rounds of everything. */
  readonly runs: number;
  /** Names of rows; none means all. */
  readonly only: readonly string[];
}

/** What a group found, for a person and as data. */
export interface GroupReport {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A set of things measured in one run. */
export interface Group {
  /** Timed rounds when nobody says how many. */
  readonly usualRuns: number;
  /** What `--only` can name. */
  readonly rows: readonly string[];
  readonly measure: (request: GroupRequest) => GroupReport;
}
