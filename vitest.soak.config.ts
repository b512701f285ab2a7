import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import base, { include } from "./vitest.config.ts";

const { projects: _projects, ...test } = base.test ?? {};

/** Tests that do more in a soak: they repeat something, or run the original SDK as well. */
const larger = globSync(include, { cwd: import.meta.dirname, exclude: configDefaults.exclude }).filter(
  (file) =>
    /\brepetitions\(|"\.\/differential\.ts"|recordings\//.test(
      readFileSync(join(import.meta.dirname, file), "utf8"),
    ),
);

/** Soak tests: `*.soak.ts` in any package, and the larger tests. They run for minutes, one file at a time, by `npm run soak`. */
export default defineConfig({
  ...base,
  test: {
    ...test,
    include: ["packages/*/{src,test}/**/*.soak.ts", "test/**/*.soak.ts", ...larger],
    env: { CODEXKIT_SOAK: "1" },
    maxWorkers: 1,
    testTimeout: 60 * 60_000,
    hookTimeout: 60_000,
  },
});
