import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SERVER_LIMITS } from "../limits.ts";
import type { MessageSink } from "./message-sink.ts";
import { MessageWriter } from "./message-writer.ts";

/** Collects whole messages. Pieces are copied, because their memory may be used again once they are sent. */
function collect(): { sink: MessageSink; messages: string[]; batches: number[] } {
  const messages: string[] = [];
  const batches: number[] = [];
  let pieces = "";
  let corked = 0;
  const sink: MessageSink = {
    write(piece, isLast, onSent) {
      pieces += piece.toString();
      if (isLast) {
        messages.push(pieces);
        pieces = "";
        corked += 1;
      }
      queueMicrotask(onSent);
    },
    cork: () => {},
    uncork: () => batches.push(corked),
    bufferedBytes: 0,
  };
  return { sink, messages, batches };
}

describe("a large message", () => {
  test("arrives whole, also with an id that is longer than the memory of a piece", () => {
    const { sink, messages } = collect();
    const writer = new MessageWriter(sink, () => {}, SERVER_LIMITS);
    const content = randomBytes(300_001);
    const id = "i".repeat(400_000);
    const before = `{"id":"${id}","result":{"dataBase64":"`;
    const base64 = content.toString("base64");
    writer.sendBase64(before, content, '"}}');
    expect(messages.length).toBe(1);
    expect(messages[0] === `${before}${base64}"}}`).toBe(true);
  });
});

describe("short messages of one turn of the event loop", () => {
  test("are not all held back until its end", () => {
    const { sink, messages, batches } = collect();
    const writer = new MessageWriter(sink, () => {}, SERVER_LIMITS);
    for (let number = 0; number < 40; number += 1) writer.send(`{"id":${number}}`);
    expect(messages.length).toBe(40);
    expect(batches).toEqual([16, 32]);
    writer.flush();
    expect(batches).toEqual([16, 32, 40]);
  });
});
