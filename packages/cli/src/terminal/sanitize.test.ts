import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { revealLine, revealText, sanitizeText } from "./sanitize.ts";

/** What a terminal acts upon: all controls but tab and line feed, and characters that change the direction of text. */
// oxlint-disable-next-line no-control-regex
const ACTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\u001b",
        "\u009b",
        "\u009d",
        "[",
        "]",
        "52;c;",
        "\u0007",
        "\r",
        "\n",
        "\u0001",
        "\u200d",
        "m",
      ),
      fc.string({ unit: "binary" }),
    ),
  )
  .map((parts) => parts.join(""));

describe("text for a terminal", () => {
  test.each([
    ["a change of the clipboard", "a\u001b]52;c;aGk=\u0007b", "ab"],
    ["a title", "a\u001b]0;title\u001b\\b", "ab"],
    ["colours", "\u001b[31mred\u001b[0m", "red"],
    ["cursor movement", "up\u001b[2A\u001b[2Kdown", "updown"],
    ["a hyperlink", "\u001b]8;;https://a.example\u001b\\b\u001b]8;;\u001b\\", "b"],
    ["a device control string", "a\u001bP1$tx\u009cb", "ab"],
    ["a character set and a reset", "a\u001b(B\u001bcb", "ab"],
    ["an unfinished sequence", "a\u001b]52;c;", "a52;c;"],
    ["a progress bar", "10%\r20%\r30%", "30%"],
    ["Windows line ends", "a\r\nb\r\n", "a\nb\n"],
    ["a change of direction", "a\u202eb", "ab"],
    ["8-bit controls", "a\u009b31mb", "ab"],
  ])("neutralises %s", (_what, text, expected) => {
    expect(sanitizeText(text)).toBe(expected);
  });

  test("keeps tabs, CJK and joined emoji", () => {
    const text = "\t日本語 👩‍👩‍👧 👍🏽 é";
    expect(sanitizeText(text)).toBe(text);
    expect(revealText(text)).toBe(text);
  });

  test.each(["\u001b]", "\u001b[1;", "\u001bP", "\u001b ", "\u009d", "\u200d"])(
    "a megabyte of %j takes no longer than other text",
    (part) => {
      expect(sanitizeText(part.repeat(1_000_000 / part.length))).not.toMatch(ACTIVE);
    },
  );

  test("never contains what a terminal acts upon", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(sanitizeText(text)).not.toMatch(ACTIVE);
        expect(revealText(text)).not.toMatch(ACTIVE);
      }),
    );
  });
});

test("text to decide about shows what it hides", () => {
  expect(revealText("rm\u001b[8m -rf /\u001b[0m \u202e#\r\n")).toBe("rm\\x1b[8m -rf /\\x1b[0m \\u202e#\n");
});

test.each([
  ["a tag character", "a\u{e0041}b", "a\\u{e0041}b"],
  ["a Hangul filler", "a\u3164b", "a\\u3164b"],
  ["a line break", "echo a\nrm b\n", "echo a⏎rm b"],
  ["a carriage return", "rm b #\recho a", "rm b #\\x0decho a"],
])("one line to decide about shows %s", (_what, text, expected) => {
  expect(revealLine(text)).toBe(expected);
});
