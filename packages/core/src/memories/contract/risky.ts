/** Something in a memory that a person should read twice before agents follow it. */
export interface Risky {
  readonly shape:
    | "shell-pipe"
    | "url"
    | "override"
    | "mixed-script"
    | "encoded-blob"
    | "sensitive-path"
    | "secret-shape";
  /** From 1. */
  readonly line: number;
}

/** Expressions of one line each, none of which looks far ahead: a line may be as long as a file. */
const shapes: readonly (readonly [Risky["shape"], RegExp])[] = [
  [
    "shell-pipe",
    /\b(?:curl|wget|fetch)\b[^|\n]{0,400}\|\s{0,40}(?:sudo\s{1,40})?(?:ba|z|da|k|fi)?sh\b|\b(?:ba|z)?sh\s{1,40}<\(/,
  ],
  ["url", /\b(?:https?|ftp|data|javascript):(?:\/\/)?[^\s)]/i],
  [
    "override",
    /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|other|system)\b.{0,20}\b(?:instruction|rule|prompt|polic)/i,
  ],
  [
    "mixed-script",
    /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u,
  ],
  ["encoded-blob", /[A-Za-z0-9+/_-]{120,}={0,2}|(?:\\x[0-9a-f]{2}){16,}/i],
  [
    "sensitive-path",
    /(?:~|\$HOME|\/root|\/home\/[^/\s]+)\/\.(?:ssh|aws|gnupg|netrc|npmrc|kube)\b|\/etc\/(?:passwd|shadow|sudoers)|\bid_(?:rsa|ed25519)\b|(?:^|[\s/`'"])\.env\b/,
  ],
  [
    "secret-shape",
    /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|sk-[\w-]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,})|-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  ],
];

/** The risky shapes of a text, each once a line. What was found is not repeated: it may be a secret. */
export function findRisky(text: string): readonly Risky[] {
  return text
    .split("\n")
    .flatMap((row, at) => shapes.flatMap(([shape, form]) => (form.test(row) ? [{ shape, line: at + 1 }] : [])));
}
