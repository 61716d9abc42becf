import { collectFindings, type Finding, type Findings } from "../../findings/finding.ts";
import { shellQuote } from "../../findings/quote.ts";
import { readGit } from "../../git/process.ts";
import { journalFile } from "../../layer/layer.ts";
import { decodeLayerFile } from "../../policy/reader.ts";
import type { AbsPath } from "../../system/paths.ts";
import { type Doctrine, type DoctrineInput, defineDoctrine } from "../doctrine.ts";

const manifestPath = ".ai/manifest.yaml";
const reproduce = "reeve doctor --rule ai-layout-integrity";
const optionalSections: readonly string[] = ["project"];

async function judgeManifest(input: DoctrineInput, findings: Findings): Promise<void> {
  const decoded = await decodeLayerFile(input.layer, "manifest", manifestPath);
  if (!decoded.ok) {
    for (const problem of decoded.problems) {
      const next = problem.hint ?? `mend line ${problem.line} of ${manifestPath}`;
      findings.fail({ subject: `${manifestPath}:${problem.line}`, message: problem.message, reproduce, next });
    }
    return;
  }
  const { system, repository } = input.layer;
  const sections = Object.entries(decoded.value.sections);
  const absent = sections.filter(
    ([name, path]) =>
      !optionalSections.includes(name) && system.info(`${repository.top}/.ai/${path}` as AbsPath) === undefined,
  );
  for (const [name, path] of absent) {
    const message = `section '${name}' names .ai/${path}, which is not there`;
    findings.fail({ subject: manifestPath, message, reproduce, next: "reeve init --extend adds what is missing" });
  }
  if (absent.length === 0) findings.ok(manifestPath, `ai-repository/v1, ${sections.length} sections`);
}

/**
 * Paths in the index at or below one: looked for in the index's bytes, and asked of git only when the bytes are there or
 * cannot tell (a compressed or split index).
 */
function trackedBelow(input: DoctrineInput, path: string): readonly string[] {
  const { system, repository } = input.layer;
  const index = system.readBytes(`${repository.gitDir}/index` as AbsPath);
  if (index === undefined || index.length < 12) return [];
  const split = (system.list(repository.gitDir) ?? []).some((entry) => entry.name.startsWith("sharedindex."));
  if (index.readUInt32BE(4) < 4 && !split && !index.includes(path)) return [];
  const listed = readGit(system, repository, { args: ["ls-files", "-z", "--", `:(top,literal)${path}`] });
  return listed.toString("utf8").split("\0").filter(Boolean);
}

/** A layer git ignores is reviewed by nobody and travels to no clone. */
function judgeTracking(input: DoctrineInput, findings: Findings): void {
  const { system, repository } = input.layer;
  const index = system.readBytes(`${repository.gitDir}/index` as AbsPath);
  if (index?.includes(manifestPath) === true) return;
  const shows = input.git.status().entries.some((entry) => entry.path === manifestPath);
  if (shows || trackedBelow(input, manifestPath).length > 0) return;
  findings.fail({
    subject: manifestPath,
    message: "is ignored by git, so the layer is reviewed by nobody and reaches no other clone",
    reproduce: `git check-ignore -v -- ':(top)${manifestPath}'`,
    next: "take .ai out of the ignore file; only /.ai/local belongs there",
  });
}

function judgeLocal(input: DoctrineInput, findings: Findings): void {
  const { home, system } = input.layer;
  const subject = ".ai/local";
  if (home.misplaced !== undefined) {
    findings.fail({
      subject,
      message: home.misplaced,
      reproduce: 'ls -ld "$(git rev-parse --show-toplevel)/.ai/local"',
      next: "move it away; the next writing command makes the link",
    });
    return;
  }
  const tracked = trackedBelow(input, ".ai/local");
  for (const path of tracked.slice(0, 5)) {
    findings.fail({
      subject: path,
      message: "is tracked by git; this half is one checkout's own",
      reproduce: "git ls-files -- ':(top).ai/local'",
      next: `git rm --cached -- ${shellQuote(path)}`,
    });
  }
  const shows = input.git
    .status()
    .entries.find(
      (entry) => entry.kind === "untracked" && (entry.path === ".ai/local" || entry.path.startsWith(".ai/local/")),
    );
  const ignored = /^\/?\.ai\/local\s*$/m.test(
    system.readText(`${input.layer.repository.top}/.gitignore` as AbsPath) ?? "",
  );
  const next = "add the line /.ai/local to .gitignore, without a slash at its end";
  if (shows !== undefined)
    findings.fail({
      subject,
      message: "is not ignored by git",
      reproduce: "git status --porcelain -uall -- ':(top).ai/local'",
      next,
    });
  else if (!home.linked && !ignored)
    findings.warn({
      subject,
      message: "would not be ignored by git",
      reproduce: "git check-ignore -v .ai/local",
      next,
    });
  else if (tracked.length === 0) {
    const where =
      home.mode === "git" ? "its home is below the git folder" : "a real folder: its records live only here";
    findings.ok(subject, home.exists ? `ignored; ${where}` : "not made yet; the first writing command makes it");
  }
}

async function judge(input: DoctrineInput): Promise<readonly Finding[]> {
  const findings = collectFindings("layout");
  await judgeManifest(input, findings);
  judgeTracking(input, findings);
  judgeLocal(input, findings);
  const { pending, repository, system, home } = input.layer;
  if (home.exists && pending.length === 0 && system.info(journalFile(home)) !== undefined) {
    findings.fail({
      subject: ".ai/local/run/journal.json",
      message: "the plan of an interrupted command does not parse; no command can write until it is moved aside",
      reproduce,
      next: "look at it; once you have what you need: mv .ai/local/run/journal.json .ai/local/run/journal.json.aside",
    });
  }
  if (pending.length > 0) {
    findings.info(
      ".ai/local/run/journal.json",
      `${pending.length} changes of an interrupted command wait; the next writing command finishes them`,
    );
  }
  if (system.info(`${repository.top}/.majordomus` as AbsPath) !== undefined) {
    findings.fail({
      subject: ".majordomus",
      message: "project data still lies in the layout before .ai/",
      reproduce: 'ls -d "$(git rev-parse --show-toplevel)/.majordomus"',
      next: "move it out of the repository, or keep it until reeve migrate can read it",
    });
  }
  return findings.lines;
}

export const aiLayoutIntegrity: Doctrine = defineDoctrine({
  id: "ai-layout-integrity",
  category: "layout",
  validate: judge,
});
