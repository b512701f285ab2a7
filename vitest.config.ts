import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { SlowestFirst } from "./scripts/slowest-first.ts";

/**
 * Workspace packages resolve to their sources, so that tests never see a stale build. "import" is not listed, because Node
 * would apply it to `require` calls too.
 */
const conditions = ["codexkit:source", "node", "default"];

const root = import.meta.dirname;

export const include = [
  "packages/*/{src,test}/**/*.test.ts",
  "packages/*/scripts/**/*.test.ts",
  "test/**/*.test.ts",
  "bench/**/*.test.ts",
  "interop/*.test.ts",
  "interop/model/*.test.ts",
];

/** Files that replace modules, which would reach the next file of the same worker. */
const isolated = globSync(include, { cwd: root, exclude: configDefaults.exclude }).filter((file) =>
  /\bvi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(join(root, file), "utf8")),
);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: [
      // The first, because it ends last: the check for litter waits for the processes that use the folder.
      "test/memory-folder.ts",
      "test/no-litter.ts",
      "test/private-home.ts",
      "test/compile-cache.ts",
      "test/home-template.ts",
    ],
    setupFiles: ["test/no-regexp-in-objects.ts"],
    reporters: ["default", "./scripts/count-reporter.ts"],
    // Most files wait for processes, leases and timeouts, so four files keep two cores busy.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // They end tests that hang. Nothing is measured with them, so that they suit a machine on which everything takes ten times as long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests race real processes on machines of any load. The reporter names each test that needed its second attempt.
    retry: 1,
    // The default of one second is short on a busy machine. A condition that never holds should fail before the test times out.
    expect: { poll: { timeout: 20_000 } },
    execArgv: ["--conditions=codexkit:source"],
    // The SDK that codexkit/compat is compared with does not handle a failed write to a codex that has already exited.
    onUnhandledError: ({ message, stack }) =>
      !(message === "write EPIPE" && stack?.includes("/@openai/codex-sdk/")),
    projects: [
      {
        extends: true,
        // Starting a worker and loading the sources takes longer than most files, so files share workers.
        test: {
          name: "shared",
          include,
          exclude: [...configDefaults.exclude, ...isolated],
          isolate: false,
        },
      },
      { extends: true, test: { name: "isolated", include: isolated } },
    ],
  },
});
