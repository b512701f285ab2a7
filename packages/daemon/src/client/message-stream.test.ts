import { describe, expect, test } from "vitest";
import { DaemonClientError } from "./errors.ts";
import { reconnectingMessages } from "./message-stream.ts";

const stream = (text: string): Response =>
  new Response(text, { headers: { "content-type": "text/event-stream" } });
const problem = (status: number, type: string): Response =>
  new Response(JSON.stringify({ type, title: "T", status, detail: "D" }), {
    status,
    headers: { "content-type": "application/problem+json" },
  });

async function collect(responses: (Response | Error)[], count: number): Promise<(string | undefined)[]> {
  const data: (string | undefined)[] = [];
  const connect = async (): Promise<Response> => {
    const next = responses.shift();
    if (!next) throw new Error("No response is left.");
    if (next instanceof Error) throw next;
    return next;
  };
  for await (const messages of reconnectingMessages(connect, { maxDelayMs: 1 })) {
    for (const message of messages) data.push(message.data);
    if (data.length >= count) break;
  }
  return data;
}

test("connects again after an end, a failed connection and a temporary problem", async () => {
  const data = await collect(
    [
      stream("data: 1\n\ndata: 2\n\ndata: lost"),
      new Error("refused"),
      problem(503, "draining"),
      problem(429, "rate_limited"),
      stream("data: 3\n\n"),
    ],
    3,
  );
  expect(data).toEqual(["1", "2", "3"]);
});

test("rejects if the daemon rejects the request", async () => {
  const error: unknown = await collect([problem(404, "session_not_found")], 1).catch(
    (reason: unknown) => reason,
  );
  expect(DaemonClientError.is(error)).toBe(true);
  expect(error).toMatchObject({ code: "session_not_found", status: 404, message: "T: D" });
});

test("replaces a connection that receives no data", async () => {
  const silent = new Response(new ReadableStream({ pull: async () => new Promise(() => undefined) }));
  const responses = [silent, stream("data: 1\n\n")];
  const failures: unknown[] = [];
  const messages = reconnectingMessages(async () => responses.shift() ?? stream(""), {
    idleMs: 1,
    maxDelayMs: 1,
    onDisconnect: (error) => failures.push(error),
  });
  expect((await messages.next()).value).toMatchObject([{ data: "1" }]);
  expect(failures).toEqual([
    expect.objectContaining({ message: "No data was received from the daemon for 1 ms." }),
  ]);
  await messages.return(undefined);
});

describe("the signal", () => {
  test("ends the iteration during a pause", async () => {
    const controller = new AbortController();
    const messages = reconnectingMessages(async () => Promise.reject(new Error("refused")), {
      signal: controller.signal,
      onDisconnect: () => controller.abort(),
    });
    expect(await messages.next()).toEqual({ done: true, value: undefined });
  });

  test("ends the iteration while it waits for data", async () => {
    const controller = new AbortController();
    const connect = async (signal: AbortSignal): Promise<Response> =>
      new Response(
        new ReadableStream({
          start: (body) => {
            signal.addEventListener("abort", () => body.error(signal.reason));
            body.enqueue(new TextEncoder().encode("data: 1\n\n"));
          },
        }),
      );
    const messages = reconnectingMessages(connect, { signal: controller.signal });
    await messages.next();
    const next = messages.next();
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
