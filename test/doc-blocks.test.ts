import { expect, it } from "vitest";
import { findBlocks } from "./doc-blocks.ts";

it("finds the TypeScript blocks of a page with their lines, and no other blocks", () => {
  const page = [
    "# A page",
    "",
    "```ts",
    "one();",
    "```",
    "```sh",
    "ls",
    "```",
    "```ts",
    "two();",
    "",
    "```",
    "",
  ];
  expect(findBlocks(page.join("\n"))).toEqual([
    { code: "one();\n", line: 3 },
    { code: "two();\n\n", line: 9 },
  ]);
});
