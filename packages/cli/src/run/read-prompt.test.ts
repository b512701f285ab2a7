import { describe, expect, test } from "vitest";
import { separatePrompt } from "./read-prompt.ts";

const THREAD = "0199a213-81c0-7800-8aa1-bbab2a035a53";

describe("the word after --resume or --daemon", () => {
  test.each([
    ["an ID", "go on", { resume: THREAD }, "go on", { resume: THREAD }],
    ["a prompt", "", { resume: "try again" }, "try again", { resume: true }],
    ["a prompt of one word", "", { resume: "continue" }, "continue", { resume: true }],
    ["stdin", "", { resume: "-" }, "-", { resume: true }],
    [
      "a name of a session",
      "go on",
      { daemon: true, resume: "Parser" },
      "go on",
      { daemon: true, resume: "Parser" },
    ],
    [
      "the beginning of an ID of a session",
      "",
      { daemon: true, resume: "0199" },
      "",
      { daemon: true, resume: "0199" },
    ],
    ["a prompt for the daemon", "", { daemon: "Fix the build" }, "Fix the build", { daemon: true }],
    ["a prompt without quotes", "the build", { daemon: "Fix" }, "Fix the build", { daemon: true }],
    ["a prompt with a URL", "", { daemon: "http://x is down" }, "http://x is down", { daemon: true }],
    ["an address", "hi", { daemon: "http://127.0.0.1:1" }, "hi", { daemon: "http://127.0.0.1:1" }],
    ["a bad address", "hi", { daemon: "localhost:4100" }, "hi", { daemon: "localhost:4100" }],
    ["both", "", { daemon: "Go on", resume: true }, "Go on", { daemon: true, resume: true }],
  ] as const)("is %s", (_what, words, given, prompt, options) => {
    expect(separatePrompt(words, given)).toEqual({ prompt, options });
  });

  test.each([
    ["a wrong ID before a prompt", "hi", "nope", '"nope" is not the ID of a thread.'],
    ["the beginning of an ID", "", "0199a213", '"0199a213" is not the ID of a thread.'],
    ["nothing", "hi", "", "The ID of the thread is empty."],
  ])("is refused if it is %s", (_what, words, resume, message) => {
    expect(() => separatePrompt(words, { resume })).toThrow(
      expect.objectContaining({ message, exitCode: 2 }) as Error,
    );
  });
});
