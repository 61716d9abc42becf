import { appendFileSync, closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const deathsInTwenty = 1;
const spinMs = 0.5;

function spin(): void {
  const until = performance.now() + spinMs;
  while (performance.now() < until);
}

function dieSometimes(): void {
  if (Math.random() * 20 * 2 < deathsInTwenty) process.kill(process.pid, "SIGKILL");
}

const width = 24;

/** One write over what is there: nobody can find the file empty. */
function overwrite(path: string, text: string): void {
  const file = openSync(path, "r+");
  writeSync(file, text.padEnd(width), 0);
  closeSync(file);
}

/**
 * What only one process may do at a time: signs as the owner, raises a counter that all share, and sees whether it is
 * still the owner. It dies before it counts or after, so that every acquisition that is written down was counted.
 */
export function runSection(folder: string, name: string): void {
  const owner = join(folder, "owner");
  const counter = join(folder, "counter");
  overwrite(owner, name);
  const count = Number(readFileSync(counter, "utf8"));
  spin();
  dieSometimes();
  appendFileSync(join(folder, "acquired"), `${Date.now()}\n`);
  overwrite(counter, String(count + 1));
  if (readFileSync(owner, "utf8").trim() !== name) appendFileSync(join(folder, "violated"), `${name}\n`);
  dieSometimes();
}
