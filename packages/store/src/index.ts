export type { Durability } from "./appender.ts";
export { type ApplyOptions, type ApplyReport, applyPlan, provePlan, recoverPlan } from "./apply.ts";
export {
  type EnsureDirOptions,
  ensureDir,
  ensureDirSync,
  removeFile,
  removeFileSync,
  type WriteOptions,
  writeFileAtomic,
  writeFileAtomicSync,
} from "./atomic.ts";
export { type Blobs, type BlobsOptions, openBlobs } from "./blobs.ts";
export type { BlobContent, BlobPut } from "./blobs-put.ts";
export type { BlobSweepOptions, BlobSweepReport } from "./blobs-sweep.ts";
export type { BlobProblem } from "./blobs-verify.ts";
export { type Document, type DocumentOptions, type DocumentUpdate, openDocument } from "./document.ts";
export type { DocumentCodec, DocumentState, DocumentStep, Members } from "./document-form.ts";
export { StoreError, type StoreErrorCode, type StoreErrorExtras, storeErrorTable, toStoreError } from "./errors.ts";
export { type FileWriter, type FileWriterOptions, openFileWriter } from "./file-writer.ts";
export type { HolderState } from "./holder.ts";
export { type InspectOptions, inspectLines, type LinesReport, type RepairOptions, repairLines } from "./inspect.ts";
export { encodeLine } from "./line.ts";
export { type Entry, type LineOptions, type Problem, parseLines } from "./lines.ts";
export { type LockInfo, type LockOptions, readLock, withLock } from "./lock.ts";
export { type Log, type LogOptions, openLog } from "./log.ts";
export { type PendingPlan, readPending } from "./pending.ts";
export {
  type AppendChange,
  type Change,
  type ChmodChange,
  describePlan,
  type Expectation,
  listPlan,
  type MkdirChange,
  type Plan,
  type PlanEntry,
  type RemoveChange,
  type RenameChange,
  type SymlinkChange,
  type WriteChange,
} from "./plan.ts";
export { openStore } from "./store.ts";
export type { Store, StoreOptions } from "./store-interface.ts";
export type { RewriteReport } from "./store-rewrite.ts";
export type { DamagedLine } from "./store-view.ts";
export type { StoreChange } from "./store-watch.ts";
export { parseStrict, type Source } from "./strict.ts";
export {
  defineStateTable,
  type GroupRoots,
  groupOfEntry,
  isDerivedSpelling,
  type Portability,
  type Retention,
  type StateEntry,
  type StateGroup,
  type StateTable,
  type StateTraits,
} from "./table.ts";
export { isAbandoned, sweepFolder } from "./temporaries.ts";
export { cacheDir, configDir, dataDir, type Environment, stateDir } from "./xdg.ts";
