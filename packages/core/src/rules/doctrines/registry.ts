import type { Doctrine } from "../doctrine.ts";
import { aiLayoutIntegrity } from "./ai-layout-integrity.ts";
import { blockerResolution } from "./blocker-resolution.ts";
import { checkpointFreshness } from "./checkpoint-freshness.ts";
import { decisionRecords } from "./decision-records.ts";
import { enforcementWiring } from "./enforcement-wiring.ts";
import { handoverIntegrity } from "./handover-integrity.ts";
import { ledgerIntegrity } from "./ledger-integrity.ts";
import { noteIntegrity } from "./note-integrity.ts";
import { policyCompleteness } from "./policy-completeness.ts";
import { policyIntegrity } from "./policy-integrity.ts";
import { profileRequirements } from "./profile-requirements.ts";
import { questionsStoreIntegrity } from "./questions-store-integrity.ts";
import { retentionCaps } from "./retention-caps.ts";
import { scopeIntegrity } from "./scope-integrity.ts";
import { stateConsistency } from "./state-consistency.ts";
import { verificationIntegrity } from "./verification-integrity.ts";

/** Every validator, in the order its findings are printed. */
export const doctrines: readonly Doctrine[] = [
  aiLayoutIntegrity,
  policyIntegrity,
  policyCompleteness,
  enforcementWiring,
  ledgerIntegrity,
  decisionRecords,
  questionsStoreIntegrity,
  handoverIntegrity,
  retentionCaps,
  scopeIntegrity,
  verificationIntegrity,
  stateConsistency,
  blockerResolution,
  checkpointFreshness,
  noteIntegrity,
  profileRequirements,
];
