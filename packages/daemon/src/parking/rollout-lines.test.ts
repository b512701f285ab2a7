import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findOpenCalls, hasOutput, lengthAtRequest, readLines, startOfResponse } from "./rollout-lines.ts";

const item = (payload: object): object => ({ type: "response_item", payload });
const user = item({ type: "message", role: "user", content: [] });
const speech = item({ type: "message", role: "assistant", content: [] });
const reasoning = item({ type: "reasoning", summary: [] });
const usage = { type: "token_usage_record", payload: {} };
const call = (id: string): object =>
  item({ type: "function_call", call_id: id, name: "exec_command", arguments: "{}" });
const output = (id: string, text = "real"): object =>
  item({ type: "function_call_output", call_id: id, output: text });
const aborted = { type: "event_msg", payload: { type: "turn_aborted" } };

function file(...lines: readonly object[]): Uint8Array {
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const idsOf = (bytes: Uint8Array): string[] => findOpenCalls(readLines(bytes)).map(({ callId }) => callId);

describe("the open calls of a rollout file", () => {
  test("are those without an output, in their order", () => {
    expect(idsOf(file(user, call("a"), call("b"), call("c"), output("b")))).toEqual(["a", "c"]);
    expect(idsOf(file(user, call("a"), output("a")))).toEqual([]);
  });

  test("are not those of an interrupted turn before the newest message", () => {
    expect(idsOf(file(user, call("a"), user, call("b")))).toEqual(["b"]);
  });

  test("may have the ID of an earlier call", () => {
    const bytes = file(user, call("a"), output("a"), call("a"));
    expect(idsOf(bytes)).toEqual(["a"]);
    const lines = [...readLines(bytes)];
    expect(findOpenCalls(lines).map((open) => hasOutput(lines, open))).toEqual([false]);
  });

  test("are found although the last line is incomplete", () => {
    const bytes = file(user, call("a"), output("a"));
    expect(idsOf(bytes.subarray(0, -10))).toEqual(["a"]);
  });
});

describe("the length at a request", () => {
  const before = file(user, speech, call("a"));

  test("includes the calls of the same response, and excludes what the ending process added", () => {
    const response = file(user, speech, call("a"), usage, call("b"), reasoning);
    for (const tail of [[output("a", "aborted by user")], [aborted], [user], [output("b"), aborted]]) {
      const whole = Buffer.concat([response, file(...tail)]);
      expect(lengthAtRequest(whole, before.length)).toBe(response.length);
    }
  });

  test("is the length of the file if nothing was added, or if the file is shorter", () => {
    expect(lengthAtRequest(before, before.length)).toBe(before.length);
    expect(lengthAtRequest(before, before.length + 100)).toBe(before.length);
  });

  test("never excludes earlier lines, and always ends between lines", () => {
    const line = fc.constantFrom(user, speech, reasoning, usage, call("a"), call("b"), output("a"), aborted);
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (head, tail) => {
        const bytes = Buffer.from(file(...head, ...tail));
        const length = lengthAtRequest(bytes, file(...head).length);
        expect(length).toBeGreaterThanOrEqual(file(...head).length);
        expect(length === 0 || bytes[length - 1] === 0x0a).toBe(true);
      }),
    );
  });
});

test("a response begins after the newest input of the model", () => {
  const given = file(user, call("a"), output("a"));
  const bytes = Buffer.concat([given, file(reasoning, speech, call("b"), call("c"))]);
  const lines = [...readLines(bytes)];
  const [first] = findOpenCalls(lines);
  expect(first && startOfResponse(lines, first)).toBe(given.length);
});
