import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

describe.each(["table.ts", "strict.ts"])("%s", (name) => {
  test("uses nothing that only Node has, so that a page can import it", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [join(import.meta.dirname, name)],
      bundle: true,
      platform: "browser",
      format: "esm",
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
    expect(imports.filter((path) => path.startsWith("node:"))).toEqual([]);
    expect(outputFiles[0]?.text).not.toMatch(/\b(?:process|Buffer|require)\b/);
  });
});
