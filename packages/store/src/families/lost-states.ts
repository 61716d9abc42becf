import { examine, rehearse, type Stage, type Tally } from "./rehearsal.ts";

/** Cuts the power at every point of a subject's run, and looks at what the disk may hold then. */
export async function findLosses<Step>(stage: Stage<Step>, most = 20): Promise<Tally> {
  const rehearsal = rehearse(stage);
  return examine(rehearsal, rehearsal.lost(), { isPowerCut: true, isThorough: (nth) => nth % 16 === 0, most });
}
