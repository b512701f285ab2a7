import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { Peer, RpcError } from "./index.ts";
import { peerAndEnd, twoPeers, HandTransport } from "../test/peers.ts";

describe("close", () => {
  it("rejects all pending calls with the one error that `closed` resolves to", async () => {
    const { peer, end } = peerAndEnd({ limits: { inFlight: 1 } });
    const calls = [peer.request("a"), peer.request("b"), peer.request("c")];
    const errors = Promise.all(calls.map((call) => errorOf(call)));
    await end.next();
    await peer.close();
    const error = await peer.closed;
    expect(error).toMatchObject({
      code: "closed_locally",
      message: "The connection was closed by this side.",
    });
    for (const rejection of await errors) expect(rejection).toBe(error);
    expect(await errorOf(peer.request("late"))).toBe(error);
    expect(await errorOf(peer.notify("late"))).toBe(error);
    expect(await end.closed).toBeUndefined();
  });

  it("by the other side does the same, and reports it", async () => {
    const { peer, end } = peerAndEnd();
    const pending = errorOf(peer.request("a"));
    await end.next();
    await end.close();
    const error = await pending;
    expect(error).toMatchObject({ code: "closed", message: "The other side closed the connection." });
    expect(await peer.closed).toBe(error);
    expect(await errorOf(peer.notify("late"))).toBe(error);
  });

  it("with a cause keeps the cause", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    const pending = errorOf(peer.request("a"));
    const cause = new Error("EPIPE");
    transport.receiver?.closed(cause);
    expect(await pending).toMatchObject({ code: "closed", cause, message: "The connection broke: EPIPE" });
    expect(await peer.closed).toBe(await pending);
  });

  it("may be called any number of times, concurrently and later, directly and by `await using`", async () => {
    const { peer, end } = peerAndEnd();
    {
      await using same = peer;
      await Promise.all([same.close(), same.close(), same[Symbol.asyncDispose]()]);
    }
    await peer.close();
    expect(end.closedCalls).toBe(1);
    expect((await peer.closed).message).toBe("The connection was closed by this side.");
  });

  it("that races with the other side's keeps only the first reason", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    transport.receiver?.closed(new Error("first"));
    await peer.close();
    transport.receiver?.closed(new Error("third"));
    expect((await peer.closed).message).toBe("The connection broke: first");
    expect(transport.closes).toBe(1);
  });

  it("aborts the signal of a running handler, and its response is not sent", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    const { promise: aborted, resolve } = Promise.withResolvers<unknown>();
    peer.handle("wait", (_params, { signal }) => {
      const { promise, resolve: answer } = Promise.withResolvers<string>();
      signal.addEventListener("abort", () => {
        resolve(signal.reason);
        answer("too late");
      });
      return promise;
    });
    transport.receiver?.text('{"id":0,"method":"wait"}');
    await nextTurn();
    await peer.close();
    expect(await aborted).toBe(await peer.closed);
    await nextTurn();
    expect(transport.sent).toEqual([]);
  });

  it("ends delivery: later messages are not handled, delivered or reported", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    const noticed: string[] = [];
    peer.handleRest(() => noticed.push("handled"));
    peer.onRest(() => noticed.push("received"));
    peer.onAnomaly(() => noticed.push("reported"));
    await peer.close();
    for (const text of ['{"id":0,"method":"m"}', '{"method":"m"}', '{"id":5,"result":1}', "{"]) {
      transport.receiver?.text(text);
    }
    transport.receiver?.malformed(new RpcError("malformed", "a binary frame"));
    await nextTurn();
    expect(noticed).toEqual([]);
    expect(transport.sent).toEqual([]);
  });

  it("works within a handler", async () => {
    const [a, b] = twoPeers();
    b.handle("quit", () => b.close());
    expect((await errorOf(a.request("quit"))).code).toBe("closed");
    expect((await b.closed).code).toBe("closed_locally");
  });
});

describe("a response that can't be sent", () => {
  it("because it is above messageBytes ends the connection with that cause", async () => {
    const { peer, end } = peerAndEnd({ limits: { messageBytes: 200 } });
    peer.handle("big", () => "x".repeat(200));
    end.send({ id: 0, method: "big" });
    expect(await end.closed).toBeUndefined();
    expect(await peer.closed).toMatchObject({ code: "closed", cause: { code: "message_too_large" } });
    expect(end.unread).toEqual([]);
  });

  it("because the other side does not read ends the connection with that cause", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    const full = new RpcError("queue_full", "full");
    transport.onSend = () => {
      throw full;
    };
    transport.receiver?.text('{"id":0,"method":"m"}');
    expect(await peer.closed).toMatchObject({ code: "closed", cause: full });
    expect(transport.closes).toBe(1);
  });

  it("because the transport is closing leaves the reason to the transport", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    transport.onSend = () => {
      throw new RpcError("closed", "The connection is closed.");
    };
    transport.receiver?.text('{"id":0,"method":"m"}');
    transport.receiver?.closed(new Error("the real reason"));
    expect((await peer.closed).message).toBe("The connection broke: the real reason");
  });
});

describe("backpressure", () => {
  it("delays notify until the connection can accept more", async () => {
    const transport = new HandTransport();
    const peer = new Peer(transport);
    const { promise, resolve } = Promise.withResolvers<void>();
    transport.onSend = () => promise;
    let done = false;
    const notice = peer.notify("m").then(() => (done = true));
    await nextTurn();
    expect(done).toBe(false);
    resolve();
    await notice;
    expect(done).toBe(true);
    await peer.close();
  });
});
