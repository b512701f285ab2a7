import { describe, expect, test } from "vitest";
import { EventBatch } from "../journal/event-batch.ts";
import { encodeBatch, formatMessage, eventStreamResponse } from "./event-stream.ts";

const decoder = new TextDecoder();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function open(
  chunks: AsyncIterable<Uint8Array>,
  { heartbeatMs = 60_000, signal = new AbortController().signal } = {},
) {
  let ends = 0;
  const response = eventStreamResponse(chunks, { heartbeatMs, signal, onEnd: () => (ends += 1) });
  const reader = response.body?.getReader();
  if (!reader) throw new Error("There is no body.");
  const next = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read();
    return done ? undefined : decoder.decode(value);
  };
  return { response, reader, next, ends: () => ends };
}

test("encodes a message in one line of data", () => {
  expect(formatMessage(7, JSON.stringify({ text: "a\nb" }))).toBe('id: 7\ndata: {"text":"a\\nb"}\n\n');
});

test("encodes a batch once for all readers", () => {
  const row = { epoch: 1, at: 5, type: "session.created", turn_id: null, item_id: null, data: "{}" };
  const batch = new EventBatch([
    { ...row, seq: 1 },
    { ...row, seq: 2 },
  ]);
  expect(encodeBatch(batch)).toBe(encodeBatch(batch));
  expect(decoder.decode(encodeBatch(batch))).toBe(
    'id: 1\ndata: {"seq":1,"epoch":1,"at":5,"type":"session.created"}\n\n' +
      'id: 2\ndata: {"seq":2,"epoch":1,"at":5,"type":"session.created"}\n\n',
  );
});

describe("a stream", () => {
  test("reads the source only as fast as its reader", async () => {
    let produced = 0;
    const { next, reader } = open(
      (async function* () {
        for (;;) yield bytes(`${++produced}`);
      })(),
    );
    expect(await next()).toBe(":\nretry: 1000\n\n");
    expect(await next()).toBe("1");
    expect(await next()).toBe("2");
    expect(produced).toBe(2);
    await reader.cancel();
  });

  test("sends comments while the source is silent, and then the next value", async () => {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>();
    const { next, reader } = open(
      (async function* () {
        yield await promise;
      })(),
      { heartbeatMs: 1 },
    );
    await next();
    expect(await next()).toBe(":\n\n");
    expect(await next()).toBe(":\n\n");
    resolve(bytes("late"));
    const rest: (string | undefined)[] = [];
    do rest.push(await next());
    while (rest.at(-1) !== undefined);
    expect(rest.filter((text) => text !== ":\n\n")).toEqual(["late", undefined]);
    await reader.cancel();
  });

  test("ends with its source, with its reader and with its signal, once each", async () => {
    const finite = open(
      (async function* () {
        yield bytes("only");
      })(),
    );
    expect([await finite.next(), await finite.next(), await finite.next()]).toEqual([
      ":\nretry: 1000\n\n",
      "only",
      undefined,
    ]);
    expect(finite.ends()).toBe(1);

    const silent = (): AsyncIterable<Uint8Array> => ({
      [Symbol.asyncIterator]: () => ({ next: async () => new Promise<never>(() => undefined) }),
    });
    const cancelled = open(silent());
    await cancelled.reader.cancel();
    expect(cancelled.ends()).toBe(1);

    const controller = new AbortController();
    const aborted = open(silent(), { signal: controller.signal });
    await aborted.next();
    const last = aborted.next();
    controller.abort();
    expect(await last).toBeUndefined();
    expect(aborted.ends()).toBe(1);
  });

  test("ends when its source fails", async () => {
    const failing = open(
      (async function* (): AsyncGenerator<Uint8Array> {
        yield await Promise.reject(new Error("store"));
      })(),
    );
    await failing.next();
    expect(await failing.next()).toBeUndefined();
    expect(failing.ends()).toBe(1);
  });
});
