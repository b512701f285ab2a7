import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

const { projects: _projects, ...test } = base.test ?? {};

/** Soak tests: `*.soak.ts` in any package. They run for minutes, one file at a time, by `npm run soak`. */
export default defineConfig({
  ...base,
  test: {
    ...test,
    include: ["packages/*/{src,test}/**/*.soak.ts", "test/**/*.soak.ts"],
    maxWorkers: 1,
    testTimeout: 60 * 60_000,
    hookTimeout: 60_000,
  },
});
