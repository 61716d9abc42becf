import { isAbsolute, join } from "node:path";
import { StoreError } from "./errors.ts";

/** The variables looked at; `process.env` fits. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where an application keeps state that should outlive a restart and is not worth carrying along: `$XDG_STATE_HOME` when
 * that is absolute, else `~/.local/state`, and below it the application's name. Throws `NO_HOME` when neither is known.
 */
export function stateDir(app: string, env: Environment = process.env): string {
  return userDir(app, env, { variable: "XDG_STATE_HOME", below: [".local", "state"], windows: "LOCALAPPDATA" });
}

/** Where a person's settings of an application lie: `$XDG_CONFIG_HOME`, else `~/.config`. As {@link stateDir}. */
export function configDir(app: string, env: Environment = process.env): string {
  return userDir(app, env, { variable: "XDG_CONFIG_HOME", below: [".config"], windows: "APPDATA" });
}

/** Where what can be made again lies: `$XDG_CACHE_HOME`, else `~/.cache`. As {@link stateDir}. */
export function cacheDir(app: string, env: Environment = process.env): string {
  return userDir(app, env, { variable: "XDG_CACHE_HOME", below: [".cache"], windows: "LOCALAPPDATA" });
}

/** Where a person's data of an application lie: `$XDG_DATA_HOME`, else `~/.local/share`. As {@link stateDir}. */
export function dataDir(app: string, env: Environment = process.env): string {
  return userDir(app, env, { variable: "XDG_DATA_HOME", below: [".local", "share"], windows: "APPDATA" });
}

interface Kind {
  readonly variable: string;
  readonly below: readonly string[];
  readonly windows: string;
}

function userDir(app: string, env: Environment, kind: Kind): string {
  if (app === "" || app === "." || app === ".." || /[/\\\0]/.test(app)) {
    throw new StoreError("BAD_VALUE", `${JSON.stringify(app)} is no name for an application's folder`);
  }
  const own = absolute(env[kind.variable]);
  if (own !== undefined) return join(own, app);
  const windows = process.platform === "win32" ? absolute(env[kind.windows]) : undefined;
  if (windows !== undefined) return join(windows, app);
  const home = absolute(env["HOME"]);
  if (home === undefined) {
    const message = `neither ${kind.variable} nor HOME names an absolute folder`;
    throw new StoreError("NO_HOME", message, { hint: `set HOME or ${kind.variable}` });
  }
  return join(home, ...kind.below, app);
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
