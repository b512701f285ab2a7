import { expect, it } from "vitest";
import { toMessage } from "./line-comments.ts";

it("sends all comments as one message, by file and line", () => {
  const message = toMessage([
    { id: 1, path: "src/b.ts", side: "new", line: 7, code: "return 1;", text: "Why 1?\n" },
    { id: 2, path: "src/a.ts", side: "new", line: 12, code: "x += 1", text: "Use a name." },
    { id: 3, path: "src/a.ts", side: "old", line: 3, code: "check()", text: "Keep this." },
  ]);
  expect(message).toBe(`3 comments on your changes:

src/a.ts:3 (removed line)
> check()
Keep this.

src/a.ts:12
> x += 1
Use a name.

src/b.ts:7
> return 1;
Why 1?`);
});
