import { defineConfig } from "vitest/config";

/**
 * Workspace packages resolve to their sources, so that tests never see a stale build. "import" is not listed, because Node
 * would apply it to `require` calls too.
 */
const conditions = ["codexkit:source", "node", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "packages/*/scripts/**/*.test.ts",
      "test/**/*.test.ts",
      "bench/**/*.test.ts",
      "interop/*.test.ts",
      "interop/model/*.test.ts",
    ],
    globalSetup: ["test/no-litter.ts", "test/home-template.ts"],
    reporters: ["default", "./scripts/count-reporter.ts"],
    // Real codex processes start in most files; two cores serve two files at a time.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    execArgv: ["--conditions=codexkit:source"],
    // The SDK that codexkit/compat is compared with does not handle a failed write to a codex that has already exited.
    onUnhandledError: ({ message, stack }) =>
      !(message === "write EPIPE" && stack?.includes("/@openai/codex-sdk/")),
  },
});
