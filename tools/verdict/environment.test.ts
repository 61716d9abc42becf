import { expect, test } from "vitest";
import { deriveTestEnvironment } from "./environment.ts";

test("deriveTestEnvironment gives tests a home of their own and keeps the machine's settings out", () => {
  const env = deriveTestEnvironment(
    {
      PATH: "/bin",
      HOME: "/home/somebody",
      XDG_CONFIG_DIRS: "/etc/xdg",
      GIT_DIR: "/home/somebody/.git",
      REEVE_DISABLE: "1",
      NODE_EXTRA_CA_CERTS: "/etc/certificates.pem",
    },
    "/tmp/x",
  );
  expect(env).toEqual({
    PATH: "/bin",
    HOME: "/tmp/x/home",
    TMPDIR: "/tmp/x/tmp",
    XDG_CONFIG_HOME: "/tmp/x/home/.config",
    XDG_CACHE_HOME: "/tmp/x/home/.cache",
    XDG_DATA_HOME: "/tmp/x/home/.local/share",
    XDG_STATE_HOME: "/tmp/x/home/.local/state",
    XDG_RUNTIME_DIR: "/tmp/x/run",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  });
});
