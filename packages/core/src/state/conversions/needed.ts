import { type Conversions, digestOf } from "./conversion.ts";
import type { ConversionPlace } from "./place.ts";
import { isCurrent, isOver, readMarker, readStamp } from "./stamp.ts";

/**
 * Is there anything for `runConversions` to do? Asked at every writing command: reads one small file, and others only
 * where steps look at tracked files. The caller holds the layer's lock.
 */
export async function needsConversion(place: ConversionPlace, conversions: Conversions): Promise<boolean> {
  const stamp = readStamp(place);
  if (!isCurrent(stamp, digestOf(place.system, conversions)) || readMarker(place) !== undefined) return true;
  if (stamp?.kept === true && isOver(place, stamp.committed_at)) return true;
  const tracked = conversions.filter(({ touches }) => touches === "tracked");
  if (tracked.length === 0) return false;
  const { planConversions } = await import("./plan.ts");
  return planConversions(place, tracked).changes.length > 0;
}
