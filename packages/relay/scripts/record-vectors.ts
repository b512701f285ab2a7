// Records handshakes with the pinned `codex` as executor and as harness, for the tests of `src/noise`:
//   node --conditions=codexkit:source packages/relay/scripts/record-vectors.ts
import { findCodex, OwnedProcess, tempFolder } from "@codexkit/testing";
import { encapsulate, randomBytes, randomUUID } from "node:crypto";
import { on, once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeFrame } from "../src/frames/decode-frame.ts";
import { encodeFrame } from "../src/frames/encode-frame.ts";
import type { FrameBody } from "../src/frames/frame.ts";
import { identityFromSeeds, publicKeySchema, toPublicKeyJson } from "../src/noise/identity.ts";
import { InitiatorHandshake } from "../src/noise/initiator.ts";
import { ResponderHandshake } from "../src/noise/responder.ts";
import type { HandshakeRandomness, StreamKeys } from "../src/noise/transcript.ts";
import type { HandshakeVector, RecordedFrame } from "../test/vectors.ts";

const ENVIRONMENT_ID = "env-vectors";
const REGISTRATION_ID = "registration-vectors";
const AUTHORIZATION = "authorization-vectors";
const SECURITY_PROFILE = "noise_hybrid_ik_v1";
const LIMIT_MS = 30_000;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

function makeSeeds() {
  return { x25519: randomBytes(32), mlkem: randomBytes(64) };
}

interface Connection {
  readonly socket: WebSocket;
  readonly messages: NodeJS.AsyncIterator<unknown[]>;
}

/** A registry and a rendezvous whose only client is Codex: the other end is this script. */
async function startRelay(answer: (path: string, body: never, url: string) => object) {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { port } = server.address() as AddressInfo;
      const reply = answer(request.url ?? "", body as never, `ws://127.0.0.1:${port}/rendezvous`);
      response.setHeader("content-type", "application/json").end(JSON.stringify(reply));
    });
  });
  const sockets = new WebSocketServer({ server });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    nextSocket: async () => {
      const { promise, resolve } = Promise.withResolvers<Connection>();
      // Listens in the turn of the connection: Codex sends two frames at once.
      sockets.once("connection", (socket) =>
        resolve({ socket, messages: on(socket, "message", { signal: AbortSignal.timeout(LIMIT_MS) }) }),
      );
      return promise;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Our random choices, kept for the recording. */
function recordedRandomness() {
  const seeds = makeSeeds();
  const encapsulations: { ciphertext: string; sharedKey: string }[] = [];
  const random: HandshakeRandomness = {
    ephemeral: () => identityFromSeeds(seeds),
    encapsulate: (key) => {
      const { ciphertext, sharedKey } = encapsulate(key);
      encapsulations.push({ ciphertext: base64(ciphertext), sharedKey: base64(sharedKey) });
      return { ciphertext, sharedKey };
    },
  };
  return { random, seeds, encapsulations };
}

function send({ socket }: Connection, streamId: string, body: FrameBody): Buffer {
  const frame = Buffer.from(encodeFrame({ streamId, ack: 0, ackBits: 0, body }));
  socket.send(frame);
  return frame;
}

function sendText(connection: Connection, streamId: string, keys: StreamKeys, text: string): RecordedFrame {
  const plaintext = Buffer.concat([Buffer.alloc(4), Buffer.from(text)]);
  plaintext.writeUInt32BE(plaintext.length - 4);
  const seq = keys.send.nextNonce;
  const payload = keys.send.encrypt(plaintext);
  const frame = send(connection, streamId, { kind: "data", seq, segmentIndex: 0, segmentCount: 1, payload });
  return { frame: base64(frame), plaintext: base64(plaintext) };
}

async function receive({ messages }: Connection, kind: FrameBody["kind"]) {
  for (;;) {
    const { value } = (await messages.next()) as { value: [Buffer] };
    const frame = decodeFrame(value[0]);
    if (frame.body.kind === kind) return { bytes: value[0], frame };
  }
}

async function receiveRecord(connection: Connection, keys: StreamKeys): Promise<RecordedFrame> {
  const { bytes, frame } = await receive(connection, "data");
  if (frame.body.kind !== "data") throw new Error("unreachable");
  const plaintext = keys.receive.decrypt(frame.body.seq, frame.body.payload);
  return { frame: base64(bytes), plaintext: base64(plaintext) };
}

/** Codex as the executor. The request is refused before `initialize`, so that the answer says nothing of this machine. */
async function recordExecutor(): Promise<HandshakeVector> {
  const registered = Promise.withResolvers<unknown>();
  await using relay = await startRelay((path, body: { executor_public_key: unknown }, url) => {
    if (path.endsWith("/validate")) return { valid: true };
    registered.resolve(body.executor_public_key);
    return {
      environment_id: ENVIRONMENT_ID,
      url,
      security_profile: SECURITY_PROFILE,
      executor_registration_id: REGISTRATION_ID,
    };
  });
  const connected = relay.nextSocket();
  await using _codex = await startCodex(
    ["exec-server", "--remote", relay.url, "--environment-id", ENVIRONMENT_ID],
    { CODEX_API_KEY: "recording" },
  );
  const remoteKey = publicKeySchema.parse(await registered.promise);
  const connection = await connected;
  const streamId = randomUUID();
  const identity = makeSeeds();
  const { random, seeds, encapsulations } = recordedRandomness();
  const binding = { environmentId: ENVIRONMENT_ID, registrationId: REGISTRATION_ID, streamId };
  const handshake = new InitiatorHandshake(identityFromSeeds(identity), remoteKey, binding, random);
  const message1 = handshake.writeMessage1(AUTHORIZATION);
  send(connection, streamId, { kind: "resume", nextSeq: 0 });
  send(connection, streamId, { kind: "handshake", payload: message1 });
  const { frame } = await receive(connection, "handshake");
  if (frame.body.kind !== "handshake") throw new Error("unreachable");
  const message2 = Buffer.from(frame.body.payload);
  const keys = handshake.readMessage2(message2);
  const sent: RecordedFrame[] = [];
  const received: RecordedFrame[] = [];
  for (const id of ["first", "second"]) {
    sent.push(sendText(connection, streamId, keys, JSON.stringify({ id, method: "environment/status" })));
    received.push(await receiveRecord(connection, keys));
  }
  return {
    codex: "executor",
    ...binding,
    authorization: AUTHORIZATION,
    identity: { x25519: base64(identity.x25519), mlkem: base64(identity.mlkem) },
    ephemeral: { x25519: base64(seeds.x25519), mlkem: base64(seeds.mlkem) },
    encapsulations,
    remoteKey: toPublicKeyJson(remoteKey),
    message1: base64(message1),
    message2: base64(message2),
    sent,
    received,
  };
}

/** Codex as the harness. Its first request, `initialize`, is answered with an error. */
async function recordHarness(): Promise<HandshakeVector> {
  const identity = makeSeeds();
  const executor = identityFromSeeds(identity);
  await using relay = await startRelay((_path, _body, url) => ({
    environment_id: ENVIRONMENT_ID,
    url,
    security_profile: SECURITY_PROFILE,
    executor_registration_id: REGISTRATION_ID,
    executor_public_key: toPublicKeyJson(executor.publicKey),
    harness_key_authorization: AUTHORIZATION,
  }));
  const connected = relay.nextSocket();
  await using codex = await startCodex(["app-server"], {
    CODEX_EXEC_SERVER_NOISE_REGISTRY_URL: relay.url,
    CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID: ENVIRONMENT_ID,
    CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "recording",
  });
  codex.child.stdin.write(
    `${JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "recording", version: "1" } } })}\n`,
  );
  const connection = await connected;
  const { frame } = await receive(connection, "handshake");
  if (frame.body.kind !== "handshake") throw new Error("unreachable");
  const { streamId } = frame;
  const message1 = Buffer.from(frame.body.payload);
  const binding = { environmentId: ENVIRONMENT_ID, registrationId: REGISTRATION_ID, streamId };
  const { random, seeds, encapsulations } = recordedRandomness();
  const handshake = new ResponderHandshake(executor, binding, random);
  const claim = handshake.readMessage1(message1);
  const { message: message2, keys } = handshake.writeMessage2();
  send(connection, streamId, { kind: "handshake", payload: message2 });
  const request = await receiveRecord(connection, keys);
  const { id } = JSON.parse(Buffer.from(request.plaintext, "base64").subarray(4).toString()) as {
    id: unknown;
  };
  const error = { code: -32603, message: "this is a recording" };
  const reply = sendText(connection, streamId, keys, JSON.stringify({ error, id }));
  return {
    codex: "harness",
    ...binding,
    authorization: claim.authorization,
    identity: { x25519: base64(identity.x25519), mlkem: base64(identity.mlkem) },
    ephemeral: { x25519: base64(seeds.x25519), mlkem: base64(seeds.mlkem) },
    encapsulations,
    remoteKey: toPublicKeyJson(claim.harnessKey),
    message1: base64(message1),
    message2: base64(message2),
    sent: [reply],
    received: [request],
  };
}

async function startCodex(args: readonly string[], env: Readonly<Record<string, string>>) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await tempFolder("vectors"));
  const owned = new OwnedProcess({
    command: findCodex().path,
    args: [...args],
    env: { ...process.env, CODEX_HOME: home.path, TMPDIR: home.path, ...env },
  });
  stack.defer(() => owned.stop("SIGTERM"));
  const owner = stack.move();
  return { child: owned.child, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

const vectors = [await recordExecutor(), await recordHarness()];
await writeFile(
  new URL("../test/vectors.json", import.meta.url),
  `${JSON.stringify(vectors, undefined, 2)}\n`,
);
