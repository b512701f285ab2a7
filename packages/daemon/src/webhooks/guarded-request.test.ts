import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { Receiver } from "../../test/receiver.ts";
import { guardedRequest, type GuardedRequest, requirePublicReceiver } from "./guarded-request.ts";

const send = async (url: string, more: Partial<GuardedRequest> = {}) =>
  guardedRequest({
    url,
    headers: {},
    body: "{}",
    allowPrivate: true,
    timeoutMs: 5000,
    maxResponseBytes: 1000,
    ...more,
  });

describe("addresses outside the public internet", () => {
  test.each([
    "http://127.0.0.1",
    "http://2130706433",
    "http://0x7f.1",
    "http://0",
    "http://10.1.2.3",
    "http://172.16.0.1",
    "http://192.168.1.1",
    "http://100.64.0.1",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]",
    "http://[::]",
    "http://[::ffff:127.0.0.1]",
    "http://[::127.0.0.1]",
    "http://[::ffff:a9fe:a9fe]",
    "http://[64:ff9b::7f00:1]",
    "http://[2002:7f00:1::]",
    "http://[fd00:ec2::254]",
    "http://[fe80::1]",
    "http://localhost",
    "https://user:password@127.0.0.1",
  ])("are refused: %s", async (url) => {
    await expect(send(url, { allowPrivate: false })).rejects.toMatchObject({ code: "unprocessable" });
    await expect(requirePublicReceiver(url)).rejects.toMatchObject({ code: "unprocessable" });
  });

  test("are unknown if the name can't be resolved", async () => {
    await expect(requirePublicReceiver("https://nowhere.invalid")).resolves.toBeUndefined();
    await expect(requirePublicReceiver("https://192.0.66.1")).resolves.toBeUndefined();
  });

  test("get no connection when they are refused", async () => {
    await using receiver = await Receiver.start();
    await expect(send(receiver.url, { allowPrivate: false })).rejects.toThrow("not on the public internet");
    const byName = receiver.url.replace("127.0.0.1", "localhost");
    await expect(send(byName, { allowPrivate: false })).rejects.toThrow("not on the public internet");
    expect(receiver.received).toEqual([]);
  });
});

describe("a receiver", () => {
  test("gets the body, and its response is returned", async () => {
    await using receiver = await Receiver.start((_, response) => response.writeHead(201).end("created"));
    const { status, body } = await send(receiver.url, { body: "grüße", headers: { "webhook-id": "a" } });
    expect(status).toBe(201);
    expect(body.toString()).toBe("created");
    expect(receiver.received[0]).toMatchObject({ body: "grüße", headers: { "webhook-id": "a" } });
  });

  test("that redirects is not followed", async () => {
    await using target = await Receiver.start();
    await using receiver = await Receiver.start((_, response) =>
      response.writeHead(307, { location: target.url }).end(),
    );
    expect((await send(receiver.url)).status).toBe(307);
    expect(target.received).toEqual([]);
  });

  test("that answers too much is cut off", async () => {
    await using receiver = await Receiver.start((_, response) => response.end("x".repeat(1001)));
    await expect(send(receiver.url)).rejects.toMatchObject({ code: "body_too_large" });
  });

  test("that never answers is cut off", async () => {
    await using receiver = await Receiver.start(() => {});
    await expect(send(receiver.url, { timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" });
  });

  test("that never ends its answer is cut off", async () => {
    await using receiver = await Receiver.start((_, response) => response.write("x"));
    await expect(send(receiver.url, { timeoutMs: 200 })).rejects.toMatchObject({ code: "timeout" });
  });

  test.each([
    ["switches to another protocol", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ["hangs up without an answer", ""],
    ["hangs up in the middle of its answer", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"],
    ["answers with no HTTP", "\0\0\0"],
  ])("that %s is a failure, and not waited for", async (_, answer) => {
    const server = createServer((socket) => socket.once("data", () => socket.end(answer)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const response = send(`http://127.0.0.1:${port}/`, { timeoutMs: 60_000 });
    await expect(response).rejects.toThrow(/closed the connection|aborted|socket hang up|Parse Error/);
    await new Promise((resolve) => server.close(resolve));
  });

  test("is left when the caller aborts", async () => {
    await using receiver = await Receiver.start(() => stop.abort());
    const stop = new AbortController();
    await expect(send(receiver.url, { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});
