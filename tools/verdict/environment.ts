import { join } from "node:path";

/**
 * The environment tests run in: a home and user folders of their own under `folder`, a neutral git, and nothing that a
 * git hook, another Reeve or the machine's certificates would bring in.
 */
export function deriveTestEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(GIT|REEVE|XDG)_/.test(name) && name !== "NODE_EXTRA_CA_CERTS",
  );
  const home = join(folder, "home");
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    TMPDIR: join(folder, "tmp"),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_CACHE_HOME: join(home, ".cache"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_RUNTIME_DIR: join(folder, "run"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
}
