/** Prints what a check found, one problem a line, and gives the tool's exit code. */
export function writeProblems(problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}
