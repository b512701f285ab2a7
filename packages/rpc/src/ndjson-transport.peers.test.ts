import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { lineScript, nodeChild } from "../test/node-child.ts";
import { NdjsonTransport, Peer } from "./index.ts";
import { childPeer } from "../test/streams.ts";

describe("a child", () => {
  it("answers calls and makes its own", async () => {
    await using child = nodeChild(
      lineScript(`(message) => {
        if (message.method === "ask") say({ id: "mine", method: "name" });
        else if (message.id === "mine") say({ method: "told", params: message.result });
      }`),
    );
    await using peer = childPeer(child);
    peer.handle("name", () => "parent");
    const { promise, resolve } = Promise.withResolvers<unknown>();
    peer.on("told", resolve);
    await peer.notify("ask");
    expect(await promise).toBe("parent");
  });

  it("that exits right after its last messages loses none of them", async () => {
    await using child = nodeChild(
      lineScript(`({ id }) => {
        for (let i = 0; i < 200; i++) say({ method: "line", params: "x".repeat(10_000) });
        process.stdout.write(JSON.stringify({ id, result: "answered" }) + "\\n", () => process.exit(3));
      }`),
    );
    await using peer = childPeer(child);
    let received = 0;
    // A slow listener: the child's exit is reported long before all of this is read.
    peer.on("line", () => {
      received += 1;
      for (let i = 0; i < 20_000; i++) JSON.stringify(i);
    });
    expect(await peer.request("last")).toBe("answered");
    expect(received).toBe(200);
    expect(await peer.closed).toMatchObject({
      code: "closed",
      message: "The other side closed the connection.",
    });
    expect(await child.exited).toBe(3);
  });

  it("that dies during a call rejects all pending calls with one error", async () => {
    await using child = nodeChild(lineScript("() => process.kill(process.pid, 'SIGKILL')"));
    await using peer = childPeer(child, { inFlight: 2 });
    const errors = await Promise.all(["a", "b", "c", "d"].map((method) => errorOf(peer.request(method))));
    expect(new Set(errors).size).toBe(1);
    expect(errors[0]).toBe(await peer.closed);
    expect(errors[0]?.code).toBe("closed");
    expect(await child.exited).toBeNull();
  });

  it("that closes its stdin but keeps running rejects every call, with EPIPE as the cause", async () => {
    await using child = nodeChild(`
      import { closeSync } from "node:fs";
      closeSync(0);
      process.stdout.write('{"method":"closed"}\\n');
      setInterval(() => {}, 1e6);
    `);
    await using peer = childPeer(child, { closeTimeoutMs: 20, inFlight: 1 });
    const { promise: closedStdin, resolve } = Promise.withResolvers<void>();
    peer.on("closed", () => resolve());
    await closedStdin;
    const errors = await Promise.all([errorOf(peer.request("a")), errorOf(peer.request("b"))]);
    expect(errors[0]).toMatchObject({ code: "closed", cause: { code: "EPIPE" } });
    expect(errors[1]).toBe(errors[0]);
    expect((await errorOf(peer.notify("c"))).code).toBe("closed");
  });

  it("may send a flood of malformed lines", async () => {
    await using child = nodeChild(
      lineScript(`({ id }) => {
        process.stdout.write("not json\\n".repeat(1000));
        say({ id, result: "fine" });
      }`),
    );
    await using peer = childPeer(child);
    let anomalies = 0;
    peer.onAnomaly(() => (anomalies += 1));
    expect(await peer.request("m")).toBe("fine");
    expect(anomalies).toBe(1000);
  });
});

describe("a socket", () => {
  it("connects two peers, and closing one closes both", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "rpc-"));
    const path = join(folder.path, "socket");
    const server = createServer().listen(path);
    await once(server, "listening");
    const near = connect(path);
    const [far] = (await once(server, "connection")) as [Socket];
    const a = new Peer(new NdjsonTransport({ input: near, output: near }));
    const b = new Peer(new NdjsonTransport({ input: far, output: far }));
    a.handle("who", () => "a");
    b.handle("who", () => "b");
    expect(await Promise.all([a.request("who"), b.request("who")])).toEqual(["b", "a"]);
    await a.close();
    expect((await b.closed).message).toBe("The other side closed the connection.");
    server.close();
    await once(server, "close");
  });

  it("that is reset rejects pending calls with the reset as the cause", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const near = connect((server.address() as { port: number }).port, "127.0.0.1");
    const [far] = (await once(server, "connection")) as [Socket];
    const peer = new Peer(new NdjsonTransport({ input: near, output: near }));
    const pending = errorOf(peer.request("m"));
    await once(far, "data");
    far.resetAndDestroy();
    expect(await pending).toMatchObject({ code: "closed", cause: { code: "ECONNRESET" } });
    server.close();
    await once(server, "close");
  });
});
