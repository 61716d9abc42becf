/** Front matter of a rule (reference 1.5). */
export interface RuleFrontMatter {
  readonly id: string;
  readonly version: number;
  readonly kind: "rule";
  readonly title: string;
  readonly description: string;
  readonly statement: string;
  readonly status: "active" | "deprecated";
  readonly class: "blocking" | "advisory";
  readonly depends_on: readonly string[];
  readonly tags?: readonly string[];
  readonly "x-reeve"?: RuleBlock;
}

export interface RuleBlock {
  readonly validator?: string;
  readonly category?: string;
  readonly enforced_by?: readonly ("doctor" | "watch" | "check" | "finish")[];
  readonly exit_code?: number;
  readonly policy_key?: string;
  readonly claims?: readonly string[];
  readonly tests?: readonly string[];
  readonly reviewed_because?: string;
}

/** A rule of a layer, and where it stands. */
export interface Rule extends RuleFrontMatter {
  readonly path: string;
}

/** `.ai/repo/rules/vendor/<vendor>/manifest.yaml`. */
export interface VendorManifest {
  readonly vendor: string;
  readonly package: string;
  readonly version: number;
  readonly format: "ai-rules/v1";
  readonly source_revision: string;
  readonly rules: readonly {
    readonly id: string;
    readonly version: number;
    readonly file: string;
    readonly sha256: string;
  }[];
}
