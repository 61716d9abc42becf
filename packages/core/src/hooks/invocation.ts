/** How a text that names a program's call holds git to its exit code. */
export type CallVerdict =
  | { readonly kind: "absent" }
  /** The call is there and a failure of it is passed on. */
  | { readonly kind: "enforced"; readonly line: number }
  /** A failure of it is taken for success. */
  | { readonly kind: "swallowed"; readonly line: number }
  /** It is named, but whether it runs, and whether its failure counts, cannot be read off the text. */
  | { readonly kind: "unproven"; readonly line: number };

export interface CallQuestion {
  readonly text: string;
  /** The program's name and its first argument. */
  readonly program: string;
  readonly first: string;
  /** `script`: sh; `errexit`: sh that ends at the first failure; `yaml`: a runner's configuration. */
  readonly form: "script" | "errexit" | "yaml";
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

const swallows = /(?:\|\||;)\s*(?:true|:|exit(?:\s+0)?)\s*(?:[;&]|$)/;
const passesOn = /\|\|\s*(?:exit|return)\s+(?:"?\$\?"?|[1-9]\d*)\s*$/;
/** What may end a script early, or put a later line somewhere it need not run: then nothing is proven. */
const doubtful =
  /\b(?:exit|return|exec|if|then|else|while|until|for|do|case|function|trap|eval)\b|set\s+\+|[{(]\s*$|<<|\\$/;

function isDoubtful(line: string): boolean {
  const quotes = (line.match(/["'`]/g) ?? []).length;
  return doubtful.test(line) || quotes % 2 === 1;
}

/** Lines with what is a comment taken out. */
function codeLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => line.replace(/(?:^|\s)#.*$/, ""));
}

function judgeYaml(lines: readonly string[], call: RegExp): CallVerdict {
  const at = lines.findIndex((line) => call.test(line));
  if (at < 0) return { kind: "absent" };
  const line = at + 1;
  if (swallows.test(lines[at] ?? "")) return { kind: "swallowed", line };
  const lenient = lines.some((row) => /^\s*-?\s*(?:continue-on-error:\s*true|allow_failure:\s*true)\b/.test(row));
  return { kind: lenient ? "unproven" : "enforced", line };
}

/** Reads, without running anything, whether a script or a runner's configuration holds to a call's exit code. */
export function judgeCall({ text, program, first, form }: CallQuestion): CallVerdict {
  const lines = codeLines(text);
  const words = `(?:\\S*/)?${literal(program)}["']?\\s+${literal(first)}(?=\\s|$|["';|&])`;
  if (form === "yaml") return judgeYaml(lines, new RegExp(`(?:^|[\\s"'])${words}`));
  const anywhere = new RegExp(`(?:^|[\\s;&|"'(])${words}`);
  const starts = new RegExp(`^\\s*(?:[A-Za-z_]\\w*=\\S*\\s+)*(exec\\s+)?["']?${words}([^|&;]*)(.*)$`);
  const named = lines.findIndex((line) => anywhere.test(line));
  if (named < 0) return { kind: "absent" };
  const line = named + 1;
  const row = lines[named] ?? "";
  if (swallows.test(row)) return { kind: "swallowed", line };
  const call = starts.exec(row);
  const before = lines.slice(0, named);
  if (call === null || before.some(isDoubtful)) return { kind: "unproven", line };
  const [, exec, , after = ""] = call;
  const last = lines.slice(named + 1).every((later) => later.trim() === "");
  const strict = form === "errexit" || before.some((earlier) => /^\s*set\s+-\w*e/.test(earlier));
  const held = after.trim() === "" ? strict || last || exec !== undefined : passesOn.test(after);
  return { kind: held ? "enforced" : "unproven", line };
}
