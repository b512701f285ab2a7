import { expect, it } from "vitest";
import { plainOutput } from "./plain-output.ts";

it.each([
  ["plain\ntext", "plain\ntext"],
  ["\u001B[31mred\u001B[0m and \u001B[1;32mgreen\u001B[m", "red and green"],
  ["\u001B]0;title\u0007body", "body"],
  ["\u001B]8;;https://example.com\u001B\\link\u001B]8;;\u001B\\", "link"],
  ["one\r\ntwo\r\n", "one\ntwo\n"],
  ["10%\r50%\r100%\ndone", "100%\ndone"],
])("shows %j as text", (output, text) => {
  expect(plainOutput(output)).toBe(text);
});
