// A successor with a higher epoch takes over a subject's connections and its processes.
import { memoryTransportPair } from "@codexkit/rpc";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { ExecClient } from "../src/client/exec-client.ts";
import { ExecServer, type ExecServerOptions, signBearerToken } from "../src/index.ts";
import { RawClient } from "./raw-client.ts";

const SECRET = "a secret of at least thirty-two bytes";
const HOUR_MS = 3_600_000;

async function start(options: ExecServerOptions = {}): Promise<ExecServer & { readonly url: string }> {
  const server = await ExecServer.start({
    auth: { mode: "signed-bearer-token", secret: SECRET },
    ...options,
  });
  onTestFinished(() => server.close());
  return server as ExecServer & { readonly url: string };
}

async function headersOf(epoch: number, subject = "session"): Promise<Record<string, string>> {
  const token = await signBearerToken({ secret: SECRET, validForMs: HOUR_MS, claim: { subject, epoch } });
  return { authorization: `Bearer ${token}` };
}

async function open(url: string, epoch: number, subject?: string): Promise<RawClient> {
  const client = await RawClient.open(url, await headersOf(epoch, subject));
  onTestFinished(() => client[Symbol.dispose]());
  return client;
}

async function handshake(client: RawClient, resumeSessionId: string | null = null) {
  const answer = await client.call("initialize", { clientName: "raw", resumeSessionId });
  client.send({ method: "initialized", params: {} });
  return answer;
}

const startCat = {
  processId: "p",
  argv: ["/bin/cat"],
  cwd: "file:///",
  env: {},
  tty: false,
  pipeStdin: true,
};

/** Any claims, with a valid signature. */
function tokenOf(claims: string): string {
  const part = (text: string) => Buffer.from(text).toString("base64url");
  const signed = `${part('{"alg":"HS256"}')}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

describe("a connection with a higher epoch", () => {
  test("cuts off the lower ones, which can't come back", async () => {
    const { url } = await start();
    const [first, sibling, other] = [await open(url, 1), await open(url, 1), await open(url, 1, "other")];
    await open(url, 2);
    await Promise.all([first.closed(), sibling.closed()]);
    const refused = ExecClient.connect(url, { token: (await headersOf(1))["authorization"]?.slice(7) ?? "" });
    await expect(refused).rejects.toThrow("409: Epoch 1 of this subject has been replaced by epoch 2.");
    expect(other.isClosed).toBe(false);
    await open(url, 2);
  });

  test("is remembered after its end", async () => {
    const { url } = await start();
    const successor = await open(url, 2);
    successor.socket.close();
    await successor.closed();
    await expect(RawClient.open(url, await headersOf(1))).rejects.toThrow("409");
  });

  test("resumes the session at once, and drives its processes; its predecessor can't", async () => {
    const { url } = await start();
    const first = await open(url, 1);
    const { result } = await handshake(first);
    const sessionId = String(result?.["sessionId"]);
    await first.call("process/start", startCat);
    const second = await open(url, 2);
    expect((await handshake(second, sessionId)).result).toMatchObject({ sessionId });
    const chunk = Buffer.from("from the successor\n").toString("base64");
    await second.call("process/write", { processId: "p", writeId: "w", chunk });
    const read = { processId: "p", afterSeq: null, maxBytes: null, waitMs: 5_000 };
    expect(JSON.stringify((await second.call("process/read", read)).result)).toContain(chunk);
    await first.closed();
    await expect(RawClient.open(url, await headersOf(1))).rejects.toThrow("409");
  });

  test("is the only one whose messages count from then on, also if others have arrived", async () => {
    await using server = await ExecServer.start({ listen: "none" });
    const [mine, theirs] = memoryTransportPair();
    const received: string[] = [];
    mine.start({ text: (text) => void received.push(text), malformed: () => {}, closed: () => {} });
    server.accept(theirs, { claim: { subject: "s", epoch: 1 } });
    void mine.send('{"id":1,"method":"initialize","params":{"clientName":"x"}}');
    const [successor, accepted] = memoryTransportPair();
    const closed = Promise.withResolvers<void>();
    successor.start({ text: () => {}, malformed: () => {}, closed: () => closed.resolve() });
    server.accept(accepted, { claim: { subject: "s", epoch: 2 } });
    const [late, refused] = memoryTransportPair();
    const ended = Promise.withResolvers<void>();
    late.start({
      text: (text) => void received.push(text),
      malformed: () => {},
      closed: () => ended.resolve(),
    });
    server.accept(refused, { claim: { subject: "s", epoch: 1 } });
    void late.send('{"id":2,"method":"initialize","params":{"clientName":"x"}}');
    await ended.promise;
    expect(received).toEqual([]);
    await server.close();
    await closed.promise;
  });

  test("wins every race", async () => {
    const { url } = await start();
    const epochs = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8];
    const attempts = await Promise.allSettled(epochs.map((epoch) => open(url, epoch)));
    const clients = attempts.map((attempt) => (attempt.status === "fulfilled" ? attempt.value : undefined));
    const replaced = clients.filter((client, index) => client && epochs[index] !== 9);
    await Promise.all(replaced.flatMap((client) => (client ? [client.closed()] : [])));
    expect(clients[epochs.indexOf(9)]?.isClosed).toBe(false);
  });
});

describe("a session", () => {
  test("of one subject can't be resumed for another one, or without a subject", async () => {
    const { url } = await start();
    const owner = await open(url, 1);
    const sessionId = String((await handshake(owner)).result?.["sessionId"]);
    owner.socket.close();
    await once(owner.socket, "close");
    const plain = {
      authorization: `Bearer ${await signBearerToken({ secret: SECRET, validForMs: HOUR_MS })}`,
    };
    for (const headers of [await headersOf(9, "other"), plain]) {
      using thief = await RawClient.open(url, headers);
      expect((await handshake(thief, sessionId)).error?.message).toContain("unknown session id");
    }
    expect((await handshake(await open(url, 1), sessionId)).error).toBeUndefined();
  });

  test("without a subject belongs to the first one that resumes it", async () => {
    const { url } = await start();
    const plain = {
      authorization: `Bearer ${await signBearerToken({ secret: SECRET, validForMs: HOUR_MS })}`,
    };
    using first = await RawClient.open(url, plain);
    const sessionId = String((await handshake(first)).result?.["sessionId"]);
    first.socket.close();
    await first.closed();
    const owner = await open(url, 1);
    expect((await handshake(owner, sessionId)).error).toBeUndefined();
    owner.socket.close();
    await owner.closed();
    using again = await RawClient.open(url, plain);
    expect((await handshake(again, sessionId)).error?.message).toContain("unknown session id");
  });
});

describe("a token", () => {
  test.each([
    ["a negative epoch", '"sub":"s","epoch":-1'],
    ["a fraction", '"sub":"s","epoch":1.5'],
    ["a string", '"sub":"s","epoch":"1"'],
    ["a number beyond the safe ones", '"sub":"s","epoch":9007199254740992'],
    ["an infinite number", '"sub":"s","epoch":1e999'],
    ["null", '"sub":"s","epoch":null'],
    ["an object", '"sub":"s","epoch":{}'],
    ["two epochs", '"sub":"s","epoch":1,"epoch":2'],
    ["an epoch without a subject", '"epoch":1'],
    ["an empty subject", '"sub":"","epoch":1'],
    ["a subject that is no text", '"sub":7,"epoch":1'],
    ["a subject of 257 bytes", `"sub":"${"s".repeat(257)}","epoch":1`],
  ])("with %s is refused", async (_name, claims) => {
    const { url } = await start();
    const token = tokenOf(`{"exp":${Math.ceil(Date.now() / 1000) + 60},${claims}}`);
    await expect(RawClient.open(url, { authorization: `Bearer ${token}` })).rejects.toThrow("401");
  });

  test("with a subject but no epoch is an ordinary one", async () => {
    const { url } = await start();
    const token = tokenOf(`{"exp":${Math.ceil(Date.now() / 1000) + 60},"sub":"session"}`);
    await open(url, 5);
    using client = await RawClient.open(url, { authorization: `Bearer ${token}` });
    expect((await handshake(client)).error).toBeUndefined();
  });

  test("that no server would accept is not signed", async () => {
    const sign = (options: object) =>
      signBearerToken({ secret: SECRET, validForMs: HOUR_MS, claim: { subject: "s", epoch: 1 }, ...options });
    for (const epoch of [-1, 1.5, 2 ** 53, Number.NaN]) {
      await expect(sign({ claim: { subject: "s", epoch } })).rejects.toMatchObject({ code: "bad_option" });
    }
    await expect(sign({ claim: { subject: "", epoch: 1 } })).rejects.toMatchObject({ code: "bad_option" });
    await expect(sign({ secret: "short" })).rejects.toMatchObject({ code: "bad_option" });
    await expect(sign({ validForMs: 0 })).rejects.toMatchObject({ code: "bad_option" });
  });

  test("can name an issuer and an audience", async () => {
    const { url } = await start({
      auth: { mode: "signed-bearer-token", secret: SECRET, issuer: "me", audience: "you" },
    });
    const options = { secret: SECRET, validForMs: HOUR_MS, issuer: "me", audience: "you" };
    await using client = await ExecClient.connect(url, { token: await signBearerToken(options) });
    expect(client).toBeDefined();
    const wrong = await signBearerToken({ ...options, audience: "other" });
    await expect(ExecClient.connect(url, { token: wrong })).rejects.toThrow("401");
  });
});
