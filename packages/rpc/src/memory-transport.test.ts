import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { rawEnd } from "../test/raw-end.ts";
import { memoryTransportPair } from "./memory-transport.ts";

describe("memoryTransportPair", () => {
  it("carries messages both ways, in order", async () => {
    const [left, right] = memoryTransportPair();
    const a = rawEnd(left);
    const b = rawEnd(right);
    for (let id = 0; id < 3; id++) {
      a.send({ id });
      b.send({ id: -id });
    }
    await nextTurn();
    expect(b.unread).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
    expect(a.unread).toEqual([{ id: 0 }, { id: -1 }, { id: -2 }]);
  });

  it("delivers nothing synchronously within send or start", async () => {
    const [left, right] = memoryTransportPair();
    void left.send("{}");
    await nextTurn();
    const b = rawEnd(right);
    void left.send("{}");
    expect(b.unread).toEqual([]);
    await nextTurn();
    expect(b.unread).toEqual([{}, {}]);
  });

  it("keeps the order of messages sent before and during the start", async () => {
    const [left, right] = memoryTransportPair();
    void left.send('{"id":1}');
    await nextTurn();
    void left.send('{"id":2}');
    const b = rawEnd(right);
    void left.send('{"id":3}');
    await nextTurn();
    expect(b.unread).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it("delivers what was sent before the close, then the close, to an end that starts late", async () => {
    const [left, right] = memoryTransportPair();
    void left.send('{"id":1}');
    await left.close();
    await nextTurn();
    const b = rawEnd(right);
    expect(b.closedCalls).toBe(0);
    expect(await b.closed).toBeUndefined();
    expect(b.unread).toEqual([{ id: 1 }]);
  });

  it("notifies each end once, however often and on whichever side it is closed", async () => {
    const [left, right] = memoryTransportPair();
    const a = rawEnd(left);
    const b = rawEnd(right);
    await Promise.all([a.close(), b.close(), a.close()]);
    await nextTurn();
    expect([a.closedCalls, b.closedCalls]).toEqual([1, 1]);
  });

  it("notifies an end that starts after it was closed itself", async () => {
    const [left] = memoryTransportPair();
    await left.close();
    const a = rawEnd(left);
    expect(await a.closed).toBeUndefined();
    expect(a.closedCalls).toBe(1);
  });

  it("delivers nothing to an end that closed", async () => {
    const [left, right] = memoryTransportPair();
    const a = rawEnd(left);
    const b = rawEnd(right);
    b.send({});
    await a.close();
    await nextTurn();
    expect(a.unread).toEqual([]);
    expect(() => a.send({})).toThrow(expect.objectContaining({ code: "closed" }));
    expect(() => b.send({})).toThrow(expect.objectContaining({ code: "closed" }));
  });
});
