import { developerTool } from "./declaration/developer-tool.ts";

/** Test runners run the project's code. */
export const testRunners = developerTool({
  names: [
    "ava",
    "bats",
    "ctest",
    "cucumber",
    "cypress",
    "gotestsum",
    "jasmine",
    "jest",
    "karma",
    "mocha",
    "nox",
    "nyc",
    "phpunit",
    "playwright",
    "py.test",
    "pytest",
    "rspec",
    "tap",
    "tox",
    "vitest",
    "wdio",
  ],
  otherwise: ["project-code"],
  prints: [],
});
