import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { WAITS_FOR_WORK } from "./call-limits.ts";

const page = readFileSync(new URL("../../../../docs/sdk.md", import.meta.url), "utf8");

it.each([...WAITS_FOR_WORK])("documents that %s has no default timeout", (method) => {
  const table = page.slice(page.indexOf("### Timeouts"), page.indexOf("A turn has no timeout"));
  expect(table).toContain(`\`${method}\``);
});
