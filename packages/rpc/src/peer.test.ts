import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { rawEnd } from "../test/raw-end.ts";
import { memoryTransportPair, Peer, RequestFailure } from "./index.ts";
import { peerAndEnd, twoPeers } from "../test/peers.ts";

/** In an untyped program, a listener may be async despite its signature. */
const rejectLater = (): unknown => Promise.reject(new Error("later"));

describe("calls", () => {
  it("go both ways at once over one connection", async () => {
    const [a, b] = twoPeers();
    a.handle("twice", (params) => Number(params) * 2);
    b.handle("viaTwice", async (params) => Number(await b.request("twice", params)) + 1);
    expect(await Promise.all([a.request("viaTwice", 5), b.request("twice", 4)])).toEqual([11, 8]);
    await a.close();
  });

  it("are sent without a jsonrpc member, with ids from 0, and without params that are undefined", async () => {
    const { peer, end } = peerAndEnd();
    void peer.request("first").catch(() => {});
    void peer.request("second", null).catch(() => {});
    await peer.notify("notice", [1]);
    await nextTurn();
    expect(end.unread).toEqual([
      { id: 0, method: "first" },
      { id: 1, method: "second", params: null },
      { method: "notice", params: [1] },
    ]);
    await peer.close();
  });

  it("settle once each, with their own responses, for any interleaving of two busy peers", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.record({ fromLeft: fc.boolean(), fails: fc.boolean() }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (scheduler, plan, inFlight) => {
          const [a, b] = twoPeers({ limits: { inFlight } });
          let running = { left: 0, right: 0 };
          const serveOn = (peer: Peer, side: "left" | "right"): void => {
            peer.handle("echo", async (params) => {
              running = { ...running, [side]: running[side] + 1 };
              expect(running[side]).toBeLessThanOrEqual(inFlight);
              await scheduler.schedule(Promise.resolve());
              running = { ...running, [side]: running[side] - 1 };
              const { index, fails } = params as { index: number; fails: boolean };
              if (fails) throw new RequestFailure(index, "asked to fail");
              return index;
            });
          };
          serveOn(a, "left");
          serveOn(b, "right");
          let settled = 0;
          const outcomes = plan.map(({ fromLeft, fails }, index) =>
            (fromLeft ? a : b)
              .request("echo", { index, fails })
              .catch((error: { rpcCode: number }) => ({ failed: error.rpcCode }))
              .finally(() => (settled += 1)),
          );
          await scheduler.waitFor(Promise.all(outcomes));
          expect(await Promise.all(outcomes)).toEqual(
            plan.map(({ fails }, index) => (fails ? { failed: index } : index)),
          );
          expect(settled).toBe(plan.length);
          await a.close();
        },
      ),
    );
  });

  it("all settle through the queue, even if 10,000 are made at once", async () => {
    const [a, b] = twoPeers();
    b.handle("echo", (params) => params);
    const results = await Promise.all(Array.from({ length: 10_000 }, (_, i) => a.request("echo", i)));
    expect(results).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
    expect(a.counts).toEqual({ inFlight: 0, queued: 0 });
    await a.close();
  });

  it("above messageBytes are rejected individually, and the connection continues", async () => {
    const { peer, end } = peerAndEnd({ limits: { messageBytes: 60 } });
    expect((await errorOf(peer.request("m", "é".repeat(30)))).code).toBe("message_too_large");
    expect((await errorOf(peer.notify("m", "é".repeat(30)))).code).toBe("message_too_large");
    const call = peer.request("m", "é".repeat(10));
    expect((await end.next()).params).toBe("é".repeat(10));
    end.send({ id: 1, result: "ok" });
    expect(await call).toBe("ok");
    await peer.close();
  });

  it("and notifications with params that can't be serialised are rejected, and nothing is sent", async () => {
    const { peer, end } = peerAndEnd();
    expect((await errorOf(peer.request("m", 1n))).code).toBe("unserializable");
    expect((await errorOf(peer.notify("m", () => 1))).code).toBe("unserializable");
    await nextTurn();
    expect(end.unread).toEqual([]);
    await peer.close();
  });

  it("accept a result next to a null error", async () => {
    const { peer, end, anomalies } = peerAndEnd();
    const call = peer.request("m");
    await end.next();
    end.sendText('{"jsonrpc":"2.0","id":0,"result":"fine","error":null}');
    expect(await call).toBe("fine");
    expect(anomalies).toEqual([]);
    await peer.close();
  });
});

describe("anomalies", () => {
  it("are reported for every kind of malformed line, and the connection continues", async () => {
    const { peer, end, anomalies } = peerAndEnd();
    const texts = [
      "",
      "{",
      "[]",
      '[{"id":0,"result":1}]',
      "null",
      "5",
      "{}",
      '{"id":null,"method":"m"}',
      '{"id":{}}',
    ];
    for (const text of texts) end.sendText(text);
    const call = peer.request("m");
    await end.next();
    expect(anomalies.map(({ code }) => code)).toEqual(texts.map(() => "malformed"));
    end.send({ id: 0, result: "still here" });
    expect(await call).toBe("still here");
    expect(end.unread).toEqual([]);
    await peer.close();
  });

  it("include a second and an unmatched response, but not a late one", async () => {
    const { peer, end, anomalies } = peerAndEnd();
    const call = peer.request("m");
    const late = peer.request("slow", undefined, { timeoutMs: 1 });
    expect((await errorOf(late)).code).toBe("timeout");
    end.send({ id: 1, result: "late" });
    end.send({ id: "0", result: "the id is a text" });
    end.send({ id: 99, error: { code: 1, message: "for nobody" } });
    end.send({ id: 0, result: "right" });
    end.send({ id: 0, result: "twice" });
    expect(await call).toBe("right");
    await nextTurn();
    expect(anomalies.map(({ code, message }) => [code, message])).toEqual([
      ["unmatched_response", 'Received a response for "0", which is not pending.'],
      ["unmatched_response", "Received a response for 99, which is not pending."],
      ["unmatched_response", "Received a response for 0, which is not pending."],
    ]);
    await peer.close();
  });

  it("include errors of listeners that throw or reject, and the next notification is delivered", async () => {
    const { peer, end, anomalies } = peerAndEnd();
    const received: unknown[] = [];
    peer.on("bad", () => {
      throw new Error("at once");
    });
    peer.on("worse", rejectLater);
    peer.on("odd", () => {
      throw Object.create(null);
    });
    peer.on("good", (params) => received.push(params));
    for (const method of ["bad", "worse", "odd", "good"]) end.send({ method, params: 1 });
    await nextTurn();
    expect(received).toEqual([1]);
    expect(anomalies.map(({ code }) => code)).toEqual(["handler_failed", "handler_failed", "handler_failed"]);
    expect(anomalies.map(({ message }) => message).toSorted()).toEqual([
      "A listener for bad threw: at once",
      "A listener for odd threw: A value without a string representation was thrown.",
      "A listener for worse threw: later",
    ]);
    await peer.close();
  });

  it("survive an anomaly listener that throws or rejects", async () => {
    const { peer, end, anomalies } = peerAndEnd();
    peer.onAnomaly(() => {
      throw new Error("at once");
    });
    peer.onAnomaly(rejectLater);
    end.sendText("{");
    const call = peer.request("m");
    await end.next();
    end.send({ id: 0, result: 1 });
    expect(await call).toBe(1);
    expect(anomalies).toHaveLength(1);
    await peer.close();
  });

  it("are reported to each listener until it is disposed, and twice to one added twice", async () => {
    const { peer, end } = peerAndEnd();
    let received = 0;
    const listener = (): void => void (received += 1);
    const first = peer.onAnomaly(listener);
    const second = peer.onAnomaly(listener);
    end.sendText("{");
    await nextTurn();
    expect(received).toBe(2);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    end.sendText("{");
    await nextTurn();
    expect(received).toBe(3);
    second[Symbol.dispose]();
    end.sendText("{");
    await nextTurn();
    expect(received).toBe(3);
    await peer.close();
  });
});

describe("handlers and listeners", () => {
  it("set in the same tick as the peer get earlier notifications", async () => {
    const [left, right] = memoryTransportPair();
    const end = rawEnd(right);
    end.send({ method: "early", params: 1 });
    end.send({ id: 7, method: "ask" });
    await nextTurn();
    const peer = new Peer(left);
    const received: unknown[] = [];
    peer.on("early", (params) => received.push(params));
    peer.handle("ask", () => "answered");
    expect(await end.next()).toEqual({ id: 7, result: "answered" });
    expect(received).toEqual([1]);
    await peer.close();
  });

  it("get notifications in order of arrival", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "c")), async (methods) => {
        const [a, b] = twoPeers();
        const received: unknown[] = [];
        b.on("a", (params) => received.push(params));
        b.onRest((params) => received.push(params));
        await Promise.all(methods.map((method, index) => a.notify(method, index)));
        await nextTurn();
        expect(received).toEqual(methods.map((_, index) => index));
        await a.close();
      }),
    );
  });

  it("take precedence over the fallback handler and the fallback listener", async () => {
    const { peer, end } = peerAndEnd();
    const received: unknown[] = [];
    peer.handle("own", () => "own");
    peer.handleRest((params, { method }) => ({ method, params }));
    peer.on("mine", () => received.push("mine"));
    peer.onRest((_params, message) => received.push(message));
    end.send({ id: 1, method: "own" });
    end.send({ id: 2, method: "toString", params: 5 });
    end.send({ method: "mine" });
    end.send({ method: "__proto__", emittedAtMs: 1 });
    expect(await end.next()).toEqual({ id: 1, result: "own" });
    expect(await end.next()).toEqual({ id: 2, result: { method: "toString", params: 5 } });
    expect(received).toEqual(["mine", { method: "__proto__", emittedAtMs: 1 }]);
    await peer.close();
  });

  it("are not inherited from Object: a request for `constructor` is answered with -32601", async () => {
    const { peer, end } = peerAndEnd();
    end.send({ id: 0, method: "constructor" });
    expect(await end.next()).toEqual({
      id: 0,
      error: { code: -32_601, message: "Method not found: constructor" },
    });
    await peer.close();
  });

  it("can be registered once per method at a time", async () => {
    const { peer } = peerAndEnd();
    const first = peer.handle("m", () => 1);
    peer.on("m", () => {});
    expect(() => peer.handle("m", () => 2)).toThrow("m already has a handler");
    expect(() => peer.on("m", () => {})).toThrow("m already has a handler");
    first[Symbol.dispose]();
    peer.handle("m", () => 2);
    await peer.close();
  });

  it("stay registered if an earlier registration of the same function is disposed twice", async () => {
    const { peer, end } = peerAndEnd();
    const handler = (): string => "kept";
    const first = peer.handle("m", handler);
    first[Symbol.dispose]();
    peer.handle("m", handler);
    first[Symbol.dispose]();
    end.send({ id: 0, method: "m" });
    expect(await end.next()).toEqual({ id: 0, result: "kept" });
    await peer.close();
  });

  it("that throw don't break the read loop", async () => {
    const { peer, end } = peerAndEnd();
    peer.handle("bad", () => {
      throw new Error("no");
    });
    peer.handle("good", () => "yes");
    end.send({ id: "0", method: "bad" });
    end.send({ id: 0, method: "good" });
    expect([await end.next(), await end.next()]).toEqual([
      { id: "0", error: { code: -32_603, message: "no" } },
      { id: 0, result: "yes" },
    ]);
    await peer.close();
  });

  it("beyond inboundRequests don't run, and the other side retries", async () => {
    const [a, b] = twoPeers({ limits: { inboundRequests: 2 }, random: () => 0.99 });
    let running = 0;
    b.handle("work", async () => {
      running += 1;
      expect(running).toBeLessThanOrEqual(2);
      await nextTurn();
      running -= 1;
      return "done";
    });
    const results = await Promise.all(Array.from({ length: 12 }, () => a.request("work")));
    expect(results).toEqual(Array.from({ length: 12 }, () => "done"));
    await a.close();
  });
});
