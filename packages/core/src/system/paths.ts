declare const absolute: unique symbol;
declare const inRepository: unique symbol;

/** An absolute path of this machine. */
export type AbsPath = string & { readonly [absolute]: true };
/** A path from the repository root, with forward slashes and no leading or trailing slash. */
export type RepoPath = string & { readonly [inRepository]: true };
