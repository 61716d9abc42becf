import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Installs what `bench/package.json` names, unless just that is there already. A package with a binary that is neither shipped
 * nor to be had elsewhere is compiled against the headers beside this Node. Answers what went wrong.
 */
export function installPeers(root: string): string | undefined {
  const folder = join(root, "bench");
  const stamp = join(folder, "node_modules/.installed");
  const wanted = `${process.versions.modules} ${process.arch}\n${readFileSync(join(folder, "package-lock.json"), "utf8")}`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return undefined;
  process.stderr.write("installing what is compared with: npm ci --prefix bench (compiling takes a minute)\n");
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  const headers = existsSync(join(prefix, "include/node/node.h")) ? { npm_config_nodedir: prefix } : {};
  const ran = spawnSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], {
    cwd: folder,
    env: { ...process.env, ...headers },
    encoding: "utf8",
  });
  if (ran.error !== undefined) return `npm cannot be started: ${ran.error.message}`;
  if (ran.status !== 0)
    return `npm ci --prefix bench ended with ${ran.status ?? ran.signal}\n${ran.stdout}${ran.stderr}`;
  writeFileSync(stamp, wanted);
  return undefined;
}
