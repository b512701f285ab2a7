import { STORE_KINDS } from "@codexkit/store/testing";
import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { ownedSession, useDatabases } from "../../test/database-fixture.ts";
import { pollUntil } from "../../test/poll-until.ts";
import { Receiver, type Received } from "../../test/receiver.ts";
import type { NewSessionEvent } from "../api/event.ts";
import { webhookEventType, webhookMessage, type WebhookMessage } from "../api/webhook.ts";
import type { Database } from "../database.ts";
import type { ClaimedSession } from "../database/ownership.ts";
import { WebhookDeliverer } from "./deliverer.ts";
import { WEBHOOK_LIMITS, type WebhookLimits } from "./limits.ts";
import type { NewWebhook } from "../webhook-store/webhook-store.ts";

const ALL = webhookEventType.options;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const turnEnded = (turnId: string, threadId = "thread"): NewSessionEvent => ({
  type: "turn.completed",
  threadId,
  turnId,
  result: {
    threadId,
    turnId,
    status: "completed",
    finalResponse: `end of ${turnId}`,
    error: null,
    durationMs: 1,
    usage: null,
  } as never,
});

const messageOf = ({ body }: Received): WebhookMessage => webhookMessage.parse(JSON.parse(body));

/** Responses that a receiver does not send yet. */
class HeldResponses {
  readonly #open = new Set<ServerResponse>();
  /** The number of unanswered requests after each request. */
  readonly counts: number[] = [];

  add(response: ServerResponse): void {
    this.#open.add(response);
    response.once("close", () => this.#open.delete(response));
    this.counts.push(this.#open.size);
  }

  release(): void {
    for (const response of this.#open) response.end();
  }
}

function start(database: Database, limits: Partial<WebhookLimits> = {}): WebhookDeliverer {
  return new WebhookDeliverer({
    database,
    limits: { ...WEBHOOK_LIMITS, retryMs: 1, ...limits },
    allowPrivate: true,
    log: { warn: () => {} },
  });
}

describe.each(STORE_KINDS)("webhooks on %s", (kind) => {
  const databases = useDatabases(kind);

  async function stage(
    webhook: Pick<NewWebhook, "url"> & Partial<NewWebhook>,
  ): Promise<{ database: Database; owner: ClaimedSession; webhookId: string } & AsyncDisposable> {
    const database = await databases.open();
    const owner = await ownedSession(database);
    const created = await database.webhooks.create(
      { events: ALL, secret: SECRET, by: "tester", ...webhook },
      100,
    );
    return {
      database,
      owner,
      webhookId: created.webhook.id,
      [Symbol.asyncDispose]: () => database.close(),
    };
  }

  async function states(database: Database, webhookId: string) {
    const { rows } = await database.webhooks.deliveries(webhookId);
    return rows.map(({ state, attempts, status, error }) => ({ state, attempts, status, error }));
  }

  test("report the end of a turn, signed", async () => {
    await using receiver = await Receiver.start();
    await using stored = await stage({ url: receiver.url });
    await using _deliverer = start(stored.database);
    await stored.database.journal.append(stored.owner, [turnEnded("one")]);
    const [received] = await receiver.waitFor(1);
    if (!received) throw new Error("Nothing was received.");
    const { headers, body } = received;
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    const signature = createHmac("sha256", Buffer.alloc(32, 7)).update(signed).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
    expect(Math.abs(Number(headers["webhook-timestamp"]) * 1000 - Date.now())).toBeLessThan(60_000);
    expect(messageOf(received)).toMatchObject({
      type: "turn.ended",
      session: { id: stored.owner.sessionId },
      event: { type: "turn.completed", turnId: "one", result: { finalResponse: "end of one" } },
    });
    await pollUntil(async () => (await states(stored.database, stored.webhookId))[0]?.state === "delivered");
  });

  test("report an approval that waits for a person", async () => {
    await using receiver = await Receiver.start();
    await using stored = await stage({ url: receiver.url });
    await using _deliverer = start(stored.database);
    const { approval } = await stored.database.inbox.open(stored.owner, {
      threadId: "thread",
      requestId: 1,
      kind: "command",
      fingerprint: "f",
      request: { kind: "command", command: "make deploy" },
      offers: [{ id: "accept", label: "Allow", accepts: true, scope: "call", stores: null }],
    });
    const [received] = await receiver.waitFor(1);
    expect(received && messageOf(received)).toMatchObject({
      type: "approval.opened",
      approval: { id: approval.id, state: "open", request: { command: "make deploy" } },
    });
  });

  test("report a session that fails, once", async () => {
    await using receiver = await Receiver.start();
    await using stored = await stage({ url: receiver.url });
    const { sessions } = stored.database;
    await sessions.update(stored.owner, { phase: "failed" });
    await sessions.update(stored.owner, { phase: "failed" });
    expect(await states(stored.database, stored.webhookId)).toHaveLength(1);
    await using _deliverer = start(stored.database);
    const [received] = await receiver.waitFor(1);
    expect(received && messageOf(received)).toMatchObject({
      type: "session.failed",
      session: { phase: "failed" },
    });
  });

  test("get only what they asked for, of the sessions that they asked for", async () => {
    await using stored = await stage({ url: "http://unused.example", events: ["approval.opened"] });
    const { database, owner } = stored;
    const other = await ownedSession(database, { name: "elsewhere" });
    const ofOther = await database.webhooks.create(
      { url: "http://unused.example", events: ALL, sessionId: other.sessionId, by: "tester" },
      100,
    );
    await database.journal.append(owner, [turnEnded("one"), turnEnded("agent's", "agent")]);
    await database.journal.append(other, [turnEnded("two"), turnEnded("agent's", "agent")]);
    expect(await states(database, stored.webhookId)).toEqual([]);
    expect(await states(database, ofOther.webhook.id)).toHaveLength(1);
  });

  test("get nothing of a write that was fenced", async () => {
    await using stored = await stage({ url: "http://unused.example" });
    const { database, owner, webhookId } = stored;
    const former = { ...owner, epoch: owner.epoch - 1 };
    await expect(database.journal.append(former, [turnEnded("one")])).rejects.toMatchObject({
      code: "fenced",
    });
    expect(await states(database, webhookId)).toEqual([]);
  });

  test("get a message again, with the same ID, until they accept it", async () => {
    let answers = 0;
    await using receiver = await Receiver.start((_, response) => {
      answers += 1;
      if (answers === 1) response.socket?.destroy();
      else response.writeHead(answers === 2 ? 503 : answers === 3 ? 302 : 204).end();
    });
    await using stored = await stage({ url: receiver.url });
    await using _deliverer = start(stored.database);
    await stored.database.journal.append(stored.owner, [turnEnded("one")]);
    const received = await receiver.waitFor(4);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"]))).toHaveLength(1);
    await pollUntil(async () => (await states(stored.database, stored.webhookId))[0]?.state === "delivered");
    expect(await states(stored.database, stored.webhookId)).toEqual([
      { state: "delivered", attempts: 4, status: 204, error: null },
    ]);
  });

  test("are given up after the last attempt, and tried again on request", async () => {
    let status = 500;
    await using receiver = await Receiver.start((_, response) => response.writeHead(status).end());
    await using stored = await stage({ url: receiver.url });
    const { database, webhookId } = stored;
    await using _deliverer = start(database, { attempts: 2 });
    await database.journal.append(stored.owner, [turnEnded("one")]);
    await pollUntil(async () => (await states(database, webhookId))[0]?.state === "failed");
    expect(await states(database, webhookId)).toEqual([
      { state: "failed", attempts: 2, status: 500, error: "The receiver responded with status 500." },
    ]);
    status = 200;
    const { rows } = await database.webhooks.deliveries(webhookId);
    await database.webhooks.retry(webhookId, rows[0]?.id ?? "");
    await pollUntil(async () => (await states(database, webhookId))[0]?.state === "delivered");
  });

  test("whose receiver responded with 410 get no more messages", async () => {
    await using receiver = await Receiver.start((_, response) => response.writeHead(410).end());
    await using stored = await stage({ url: receiver.url });
    const { database, webhookId } = stored;
    await using _deliverer = start(database);
    await database.journal.append(stored.owner, [turnEnded("one")]);
    await pollUntil(async () => (await states(database, webhookId))[0]?.state === "failed");
    expect((await database.webhooks.require(webhookId)).disabled_at).not.toBeNull();
    await database.journal.append(stored.owner, [turnEnded("two")]);
    expect(await states(database, webhookId)).toHaveLength(1);
  });

  test("that are slow don't hold up others", async () => {
    await using slow = await Receiver.start(() => {});
    await using quick = await Receiver.start();
    await using stored = await stage({ url: slow.url });
    await stored.database.webhooks.create({ url: quick.url, events: ALL, by: "tester" }, 100);
    await using _deliverer = start(stored.database, { concurrency: 3, concurrencyPerWebhook: 2 });
    for (let turn = 0; turn < 5; turn += 1) {
      await stored.database.journal.append(stored.owner, [turnEnded(`${turn}`)]);
    }
    await quick.waitFor(5);
    expect(slow.received).toHaveLength(2);
  });

  test("that timed out get one request at a time until they answer in time", async () => {
    const held = new HeldResponses();
    await using receiver = await Receiver.start((_, response) => held.add(response));
    await using stored = await stage({ url: receiver.url });
    const limits = { concurrencyPerWebhook: 2, requestTimeoutMs: 1000, retryMs: 600_000 };
    await using _deliverer = start(stored.database, limits);
    const send = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) {
        await stored.database.journal.append(stored.owner, [turnEnded(`${turn}`)]);
      }
    };
    await send(5);
    await receiver.waitFor(5);
    expect(held.counts).toEqual([1, 2, 1, 1, 1]);
    held.release();
    await pollUntil(async () =>
      (await states(stored.database, stored.webhookId)).some(({ state }) => state === "delivered"),
    );
    await send(2);
    await receiver.waitFor(7);
    expect(held.counts.slice(5)).toEqual([1, 2]);
  });

  test("that timed out leave requests to others, also together", async () => {
    const held = new HeldResponses();
    await using slow = await Receiver.start((_, response) => held.add(response));
    await using quick = await Receiver.start();
    await using stored = await stage({ url: slow.url });
    for (let more = 0; more < 3; more += 1) {
      await stored.database.webhooks.create({ url: slow.url, events: ALL, by: "tester" }, 100);
    }
    const limits = { concurrency: 4, requestTimeoutMs: 1000, retryMs: 600_000 };
    await using _deliverer = start(stored.database, limits);
    await stored.database.journal.append(stored.owner, [turnEnded("first")]);
    await slow.waitFor(4);
    expect(held.counts).toEqual([1, 2, 3, 4]);
    await stored.database.webhooks.create({ url: quick.url, events: ALL, by: "tester" }, 100);
    for (let turn = 0; turn < 3; turn += 1) {
      await stored.database.journal.append(stored.owner, [turnEnded(`${turn}`)]);
    }
    await slow.waitFor(10);
    expect(Math.max(...held.counts.slice(4))).toBe(2);
    expect(quick.received).toHaveLength(3);
  });

  test("get each message from one of two nodes", async () => {
    await using receiver = await Receiver.start();
    await using stored = await stage({ url: receiver.url });
    const { database, webhookId } = stored;
    await using _one = start(database);
    await using _two = start(database);
    const turns = Array.from({ length: 20 }, (_, index) => turnEnded(`${index}`));
    await database.journal.append(stored.owner, turns);
    await pollUntil(async () =>
      (await states(database, webhookId)).every(({ state }) => state === "delivered"),
    );
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toHaveLength(20);
    expect(receiver.received).toHaveLength(20);
  });

  test("get the message that a node had when it died", async () => {
    await using receiver = await Receiver.start();
    await using stored = await stage({ url: receiver.url });
    const { database } = stored;
    await database.journal.append(stored.owner, [turnEnded("one")]);
    expect(await database.webhooks.claim({ holdMs: 1, busy: [] })).toBeDefined();
    await using _deliverer = start(database);
    await receiver.waitFor(1);
  });

  test("are deleted with their messages", async () => {
    await using stored = await stage({ url: "http://unused.example" });
    const { database, webhookId } = stored;
    await database.journal.append(stored.owner, [turnEnded("one")]);
    await database.webhooks.delete(webhookId, "tester");
    expect(await states(database, webhookId)).toEqual([]);
    await expect(database.webhooks.delete(webhookId, "tester")).rejects.toMatchObject({ code: "not_found" });
  });

  test("are limited in number", async () => {
    await using stored = await stage({ url: "http://unused.example" });
    const more = stored.database.webhooks.create({ url: "http://a.example", events: ALL, by: "tester" }, 1);
    await expect(more).rejects.toMatchObject({ code: "unprocessable" });
  });

  test("forget finished messages after a time", async () => {
    await using receiver = await Receiver.start();
    await using stored = await stage({ url: receiver.url });
    const { database, webhookId } = stored;
    await using _deliverer = start(database);
    await database.journal.append(stored.owner, [turnEnded("one")]);
    await pollUntil(async () => (await states(database, webhookId))[0]?.state === "delivered");
    await database.webhooks.prune(60_000);
    expect(await states(database, webhookId)).toHaveLength(1);
    await database.webhooks.prune(-1);
    expect(await states(database, webhookId)).toEqual([]);
  });

  test("forget messages that wait for a disabled webhook, after a time, and keep those of others", async () => {
    await using stored = await stage({ url: "http://gone.example" });
    const { database, webhookId, owner } = stored;
    const other = await database.webhooks.create({ url: "http://a.example", events: ALL, by: "tester" }, 100);
    await database.journal.append(owner, [turnEnded("one")]);
    await database.journal.append(owner, [turnEnded("two")]);
    const due = await database.webhooks.claim({ holdMs: 60_000, busy: [other.webhook.id] });
    if (!due) throw new Error("No message is due.");
    await database.webhooks.finish(due, { state: "failed", status: 410, error: "gone", isGone: true });
    await database.webhooks.prune(60_000);
    const waiting = (await states(database, webhookId)).filter(({ state }) => state === "pending");
    expect(waiting).toHaveLength(1);
    await database.webhooks.prune(-1);
    expect(await states(database, webhookId)).toEqual([]);
    expect(await states(database, other.webhook.id)).toHaveLength(2);
  });
});
