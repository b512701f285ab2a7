import { expect, test } from "vitest";
import { Screen } from "./screen.ts";

test("a snapshot draws the same screen, and belongs to an offset", async () => {
  using screen = new Screen({ columns: 20, rows: 4, scrollback: 10 });
  const text =
    "\u001b[31mred\u001b[0m wide: 漢字\r\none\r\ntwo\r\nthree\r\nfour\u001b[1A\u001b[3D\u001b[1mbold";
  const bytes = Buffer.from(text);
  // In the middle of a character.
  screen.write(bytes.subarray(0, 16), () => {});
  screen.write(bytes.subarray(16), () => {});
  const first = await screen.snapshot();
  expect(first).toMatchObject({ columns: 20, rows: 4, offset: bytes.length });
  using copy = new Screen({ columns: 20, rows: 4, scrollback: 10 });
  copy.write(Buffer.from(first.screen), () => {});
  expect((await copy.snapshot()).screen).toBe(first.screen);
  expect(await screen.resize(10, 3)).toBe(bytes.length);
  expect(await screen.snapshot()).toMatchObject({ columns: 10, rows: 3, offset: bytes.length });
});

test.each([
  ["lines", "\u001b[2147483647S"],
  ["inserted lines", "\u001b[2147483647L"],
  ["tabs", "\u001b[2147483647I"],
  ["a character", "a\u001b[2147483647b"],
])("output that repeats %s without end is processed", async (_what, output) => {
  using screen = new Screen({ columns: 20, rows: 4, scrollback: 10 });
  screen.write(Buffer.from(output), () => {});
  screen.write(Buffer.from("\u001b[2J\u001b[Htext"), () => {});
  expect((await screen.snapshot()).screen).toContain("text");
});
