/** `.ai/manifest.yaml` (reference 1.1): the section registry of a layer. */
export interface Manifest {
  readonly schema: "ai-repository/v1";
  readonly repo: { readonly path: "repo" };
  readonly local: { readonly path: "local"; readonly tracked: false; readonly implicit_context: false };
  /** Section name → path relative to `.ai/`. */
  readonly sections: Readonly<Record<string, string>>;
  readonly context?: { readonly documents?: readonly string[] };
}

export const sectionNames: readonly string[] = [
  "policy",
  "profiles",
  "rules",
  "prompts",
  "skills",
  "workflows",
  "knowledge",
  "adrs",
  "project",
  "scope",
  "sessions",
  "releases",
  "use-cases",
  "applications",
  "deployments",
  "why",
];
