import { expect, it } from "vitest";
import { parseFence } from "./parse-fence.ts";

it.each([
  ["```ts\nconst a = 1;\n```\n", { language: "ts", code: "const a = 1;" }],
  ["```ts\nconst a", { language: "ts", code: "const a" }],
  ["```\n```", { language: "", code: "" }],
  ["```C++ title=x\nint a;\n```\n\n", { language: "c++", code: "int a;" }],
  ["~~~~\n~~~\n~~~~\n", { language: "", code: "~~~" }],
  ["    a\n    b\n", { language: "", code: "a\nb" }],
  ["```", { language: "", code: "" }],
])("parses %j", (raw, fence) => {
  expect(parseFence(raw)).toEqual(fence);
});
