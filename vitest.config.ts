import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  resolve: { conditions: ["reeve-source"] },
  ssr: { resolve: { conditions: ["reeve-source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "tools/**/*.test.ts", "share/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    env: { NODE_EXTRA_CA_CERTS: "" },
  },
});

export default config;
