import { expect, test } from "vitest";
import { parseInput } from "./parse-input.ts";
import { matchCommands } from "./slash-commands.ts";

test.each([
  ["  ", { type: "empty" }],
  ["!", { type: "empty" }],
  ["Fix it\n", { type: "message", text: "Fix it" }],
  ["! npm test", { type: "shell", command: "npm test" }],
  ["/usr/bin is missing", { type: "message", text: "/usr/bin is missing" }],
  [" /compact", { type: "message", text: "/compact" }],
  ["/nothing here", { type: "unknownCommand", name: "nothing" }],
  ["/goal  Make it\nfast ", { type: "command", argument: "Make it\nfast" }],
  ["/compact", { type: "command", argument: "" }],
])("reads %j", (text, expected) => {
  expect(parseInput(text)).toMatchObject(expected);
});

test("lists commands that begin with the text before those that contain it", () => {
  expect(matchCommands("mode").map(({ name }) => name)).toEqual(["model", "mode"]);
  expect(matchCommands("or").map(({ name }) => name)).toEqual(["fork", "effort"]);
});
