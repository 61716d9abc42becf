// Runs one of the repository's tools: `node tools/run.mjs <tool> [args…]` bundles tools/<tool>.ts and calls its `main`.
// Plain JavaScript, because it runs before anything is built and on a Node that does not read TypeScript.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The workspace's own packages are bundled from source; whatever is installed stays where it is. */
const installedPackagesStayOutside = {
  name: "installed-packages-stay-outside",
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith("@reeve/") ? null : { path, external: true },
    );
  },
};

function readToolNames() {
  return readdirSync(join(root, "tools"))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => name.slice(0, -".ts".length));
}

async function loadTool(tool) {
  const folder = join(root, "node_modules/.cache/reeve-tools");
  // A name of its own per process: two runs at once must not read each other's half-written file.
  const outfile = join(folder, `${tool}.${process.pid}.mjs`);
  mkdirSync(folder, { recursive: true });
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [`tools/${tool}.ts`],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      conditions: ["reeve-source"],
      sourcemap: "inline",
      logLevel: "warning",
      plugins: [installedPackagesStayOutside],
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}

const [tool, ...args] = process.argv.slice(2);
const tools = readToolNames();
if (tool === undefined || !tools.includes(tool)) {
  process.stderr.write(
    `${tool === undefined ? "Name a tool" : `There is no tool "${tool}"`}. The tools: ${tools.join(", ")}.\n`,
  );
  process.exitCode = 2;
} else {
  process.chdir(root);
  process.setSourceMapsEnabled(true);
  const { main } = await loadTool(tool);
  process.exitCode = await main(args);
}
