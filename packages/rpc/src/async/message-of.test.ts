import { expect, it } from "vitest";
import { messageOf } from "./message-of.ts";

it.each([
  ["the message of an error", new TypeError("It is closed."), "It is closed."],
  ["other values as text", "closed", "closed"],
  ["undefined as text", undefined, "undefined"],
])("returns %s", (_what, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
