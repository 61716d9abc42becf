import { splitFrontMatter } from "../documents/front-matter.ts";
import type { Finding } from "../findings/finding.ts";
import { collectFindings } from "../findings/finding.ts";
import type { Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";
import type { RuleFrontMatter } from "./rule.ts";

export interface Rule extends RuleFrontMatter {
  readonly path: string;
}

export interface RuleSet {
  readonly rules: readonly Rule[];
  /** What is wrong with the set; any of them means nothing in it can be trusted to be complete. */
  readonly problems: readonly Finding[];
}

const rulesFolder: string = statePath(".ai/repo/rules/").slice(0, -1);
const reproduce = "reeve doctor";

async function readRule(layer: Layer, path: string): Promise<Rule | Finding> {
  const findings = collectFindings("rules");
  const { yaml } = splitFrontMatter(layer.read(path) ?? "");
  if (yaml === undefined) {
    findings.fail({
      subject: path,
      message: "has no front matter",
      reproduce,
      next: "a rule begins with --- and its keys",
    });
  } else {
    const decoded = await layer.documents.decode("rule", path, yaml);
    if (decoded.ok) return { ...decoded.value, path };
    const [problem] = decoded.problems;
    const at = `${path}:${(problem?.line ?? 1) + 1}`;
    findings.fail({
      subject: at,
      message: problem?.message ?? "does not parse",
      reproduce,
      next: problem?.hint ?? "mend it",
    });
  }
  const [finding] = findings.lines;
  if (finding === undefined) throw new Error("a rule that does not parse left no finding");
  return finding;
}

function duplicates(rules: readonly Rule[]): readonly Finding[] {
  const findings = collectFindings("rules");
  const seen = new Map<string, string>();
  for (const rule of rules) {
    const key = `${rule.id}@${rule.version}`;
    const other = seen.get(key);
    if (other !== undefined) {
      findings.fail({
        subject: rule.path,
        message: `is ${key}, which ${other} is already`,
        reproduce,
        next: "give one of them another id",
      });
    }
    seen.set(key, rule.path);
  }
  return findings.lines;
}

/** The rules of a layer: those of its vendors in the order of their folders, then the repository's own. */
export async function readRules(layer: Layer): Promise<RuleSet> {
  const vendors = layer.list(`${rulesFolder}/vendor`).map((name) => `${rulesFolder}/vendor/${name}`);
  const folders = [...vendors, `${rulesFolder}/project`];
  const paths = folders.flatMap((folder) =>
    layer
      .list(folder)
      .filter((name) => name.endsWith(".md") && name !== "README.md")
      .map((name) => `${folder}/${name}`),
  );
  const read = await Promise.all(paths.map((path) => readRule(layer, path)));
  const rules = read.flatMap((item) => ("id" in item ? [item] : []));
  const broken = read.flatMap((item) => ("id" in item ? [] : [item]));
  return { rules: rules.filter((rule) => rule.status === "active"), problems: [...broken, ...duplicates(rules)] };
}
