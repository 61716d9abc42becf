import { type Conversions, defineConversions } from "./conversion.ts";

/** Reeve's own steps, oldest first. A step is added at the end and never taken away. */
export const conversions: Conversions = defineConversions([]);
