import { splitFrontMatter } from "../documents/front-matter.ts";
import type { Finding } from "../findings/finding.ts";
import { collectFindings } from "../findings/finding.ts";
import type { Layer } from "../layer/layer.ts";
import { statePath } from "../state/paths.ts";
import { judgeRuleSet } from "./integrity.ts";
import type { Rule } from "./rule.ts";

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

interface Vendored {
  readonly paths: readonly string[];
  readonly problems: readonly Finding[];
}

/** The rule files a vendor's manifest lists; a listed one that is gone, or a manifest that does not parse, is a failure. */
async function readVendor(layer: Layer, folder: string): Promise<Vendored> {
  const findings = collectFindings("rules");
  const path = `${folder}/manifest.yaml`;
  const next = "reeve init --extend adds what is missing";
  const text = layer.read(path);
  if (text === undefined) {
    findings.fail({ subject: path, message: "is missing, so nobody knows which rules belong here", reproduce, next });
    return { paths: [], problems: findings.lines };
  }
  const decoded = await layer.documents.decode("vendor-manifest", path, text);
  if (!decoded.ok) {
    for (const { line, message, hint } of decoded.problems) {
      findings.fail({ subject: `${path}:${line}`, message, reproduce, next: hint ?? "take the file from Reeve again" });
    }
    return { paths: [], problems: findings.lines };
  }
  const paths = decoded.value.rules.map((rule) => `${folder}/${rule.file}`);
  const there = new Set(layer.list(folder));
  const gone = decoded.value.rules.filter((rule) => !there.has(rule.file));
  for (const rule of gone) {
    findings.fail({
      subject: `${folder}/${rule.file}`,
      message: "is listed in the manifest and missing",
      reproduce,
      next,
    });
  }
  const listed = new Set(decoded.value.rules.map((rule) => rule.file));
  const extra = [...there]
    .filter((name) => name.endsWith(".md") && !listed.has(name))
    .map((name) => `${folder}/${name}`);
  for (const subject of extra) {
    const message = "is not in the manifest, so it is no rule of this vendor";
    findings.fail({ subject, message, reproduce, next: "move it to .ai/repo/rules/project/" });
  }
  const missing = new Set(gone.map((rule) => `${folder}/${rule.file}`));
  return { paths: paths.filter((file) => !missing.has(file)), problems: findings.lines };
}

function judgeEmptiness(rules: readonly Rule[]): readonly Finding[] {
  const findings = collectFindings("rules");
  if (!rules.some((rule) => rule["x-reeve"]?.validator !== undefined)) {
    const message = "holds no rule with a validator, so nothing would be checked";
    findings.fail({ subject: rulesFolder, message, reproduce, next: "reeve init --extend adds the rules Reeve ships" });
  }
  return findings.lines;
}

/** The rules of a layer: those of its vendors in the order of their manifests, then the repository's own by name. */
export async function readRules(layer: Layer): Promise<RuleSet> {
  const vendorFolder = `${rulesFolder}/vendor`;
  const vendors = await Promise.all(
    layer.list(vendorFolder).map((name) => readVendor(layer, `${vendorFolder}/${name}`)),
  );
  const own = layer
    .list(`${rulesFolder}/project`)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => `${rulesFolder}/project/${name}`);
  const paths = [...vendors.flatMap((vendor) => vendor.paths), ...own];
  const read = await Promise.all(paths.map((path) => readRule(layer, path)));
  const rules = read.flatMap((item) => ("id" in item ? [item] : []));
  const broken = read.flatMap((item) => ("id" in item ? [] : [item]));
  const problems = [
    ...vendors.flatMap((vendor) => vendor.problems),
    ...broken,
    ...judgeRuleSet(rules),
    ...judgeEmptiness(rules),
  ];
  return { rules: rules.filter((rule) => rule.status === "active"), problems };
}
