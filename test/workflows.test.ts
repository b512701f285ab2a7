import { validateWorkflow } from "@action-validator/core";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "../.github/workflows");
const workflows = readdirSync(folder).map(
  (file) => [file, readFileSync(join(folder, file), "utf8")] as const,
);

describe("the workflows", () => {
  it.each(workflows)("%s is valid", (_file, source) => {
    expect(validateWorkflow(source).errors).toEqual([]);
  });

  it("are checked by a validator that finds mistakes", () => {
    const [, source = ""] = workflows.find(([file]) => file === "ci.yml") ?? [];
    expect(validateWorkflow(source.replace("runs-on:", "runs_on:")).errors).not.toEqual([]);
  });

  it("publish with provenance, and only by tag", () => {
    const [, source = ""] = workflows.find(([file]) => file === "release.yml") ?? [];
    expect(source).toMatch(/tags: \["v\*\.\*\.\*"\]/);
    expect(source).toMatch(/npm publish .*--provenance/);
    expect(source).toMatch(/id-token: write/);
  });
});
