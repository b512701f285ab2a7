import { PassThrough } from "node:stream";
import type { CodexEvent } from "codexkit";
import { expect, test } from "vitest";
import { LiveOutput } from "../terminal/live-output.ts";
import { createStyle } from "../terminal/style.ts";
import { TurnView } from "./turn-view.ts";

test("a line of many megabytes is drawn as fast as a short one, from its end", () => {
  const stream = Object.assign(new PassThrough(), { columns: 41, rows: 10 });
  using output = new LiveOutput(stream as unknown as NodeJS.WriteStream, false);
  const view = new TurnView({ output, style: createStyle(false), cwd: "/", now: () => 0 });
  view.begin();
  const delta = `${"x".repeat(64_000_000)}end`;
  view.handle({ type: "item.delta", kind: "message", itemId: "1", delta } as CodexEvent);

  const rows = view.rows();
  expect(rows).toHaveLength(6);
  expect(rows.at(-3)).toMatch(/^x+end$/);
  expect(rows.at(-1)).toBe("● 0s · 0 tokens · starting");
});
