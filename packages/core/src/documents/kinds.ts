import type { Manifest } from "../layer/manifest.ts";
import type { Policy, Profile } from "../policy/policy.ts";
import type { RuleFrontMatter, VendorManifest } from "../rules/rule.ts";

/** The hand-written YAML documents of a layer, by kind. */
export interface DocumentKinds {
  readonly manifest: Manifest;
  readonly policy: Policy;
  readonly profile: Profile;
  readonly rule: RuleFrontMatter;
  readonly "vendor-manifest": VendorManifest;
  /** A map of anything: front matter whose members its reader checks itself. */
  readonly plain: Readonly<Record<string, unknown>>;
}

export interface Problem {
  readonly line: number;
  /** Dotted path of the key, "" when the document does not parse at all. */
  readonly key: string;
  readonly message: string;
  readonly hint?: string;
}

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };
