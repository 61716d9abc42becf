/** Which sitting a rule or hook is for: every project of the user, or one. */
export type HarnessScope = "global" | "project";

/** The file of a shared text: the first of these names that is a file there, else the one that is made. */
interface BlockTarget {
  readonly kind: "block";
  /** Names in the order the vendor looks for them. A folder at a name is passed over. */
  readonly names: readonly string[];
  /** The name that is made when none is there. */
  readonly makes: string;
  /** The vendor passes over a file that holds nothing but white space. */
  readonly skipsEmpty?: true;
}

/** A folder in which every source has a file of its own. */
interface FolderTarget {
  readonly kind: "folder";
  readonly folder: string;
  /** With `{{slug}}` in the place of the source's. */
  readonly fileName: string;
  /** Front matter of a file that always applies; none where left out. */
  readonly always?: FrontMatterFields;
  /** Front matter of a file for some paths; left out where the vendor knows no such thing. */
  readonly scoped?: FrontMatterFields & { readonly pathsKey: string; readonly pathsAs: "list" | "comma-list" };
}

interface FrontMatterFields {
  readonly fields: Readonly<Record<string, string | boolean>>;
}

/** Where rule lines go. */
export type RuleTarget = BlockTarget | FolderTarget;

/** A hook that is an entry of a settings file. */
interface SettingsHook {
  /** From the project, and from the harness's own folder. */
  readonly files: Readonly<Record<HarnessScope, string>>;
  /** Members from the top of the file to the list of the event. */
  readonly event: readonly string[];
  /** Members the file has at its top. */
  readonly head?: Readonly<Record<string, unknown>>;
  /** The entry of the list, for a command of the shell. */
  readonly entry: (command: string) => Readonly<Record<string, unknown>>;
  /** How what the hook prints reaches the model. */
  readonly reply: HookReply;
}

/** `plain`: as it is. The others: inside JSON, under the member they name. `none`: nothing does. */
export type HookReply =
  | "plain"
  | "hookSpecificOutput.additionalContext"
  | "additionalContext"
  | "additional_context"
  | "none";

/**
 * A coding agent product and where it keeps its rules and hooks (seed `state-intent`; reference memories, section 3). Data
 * from the vendor's own documents; what nobody could read there is left out.
 */
export interface Harness {
  readonly id: string;
  readonly name: string;
  /** Names of other lists for the same product. */
  readonly aliases: readonly string[];
  /** When the data was compared with the vendor's documents, as `YYYY-MM-DD`, and which. */
  readonly verified: { readonly date: string; readonly sources: readonly string[] };
  /** The product's folder below the user's HOME, and the variable that names another. */
  readonly folder: { readonly path: string; readonly variable?: string };
  /** Variables that are set where the product runs the program. */
  readonly variables: readonly string[];
  /** Rules for one project, from its root, and for all, from the product's folder. */
  readonly rules: Readonly<Partial<Record<HarnessScope, RuleTarget>>>;
  /** Does a comment of a rule file cost the model tokens, or is it taken out before? */
  readonly comments: "counted" | "stripped";
  /** What the product does with `@name` in a rule file. */
  readonly expands: "at-import" | "none" | "undocumented";
  /** The most bytes of one rule file that are read. */
  readonly byteBudget: Readonly<Partial<Record<HarnessScope, number>>>;
  /** The most bytes of all the files of a chain of folders together. */
  readonly chainBudget?: number;
  readonly hook?: SettingsHook;
}
