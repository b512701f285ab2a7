import type { Command } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { storedValue } from "../settings/local-store.ts";
import { Outbox, type OutgoingMessage, parseOutgoing, type SendOutcome } from "./outbox.ts";

class MemoryStorage {
  readonly #values = new Map<string, string>();
  getItem(key: string): string | null {
    return this.#values.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#values.set(key, value);
  }
  removeItem(key: string): void {
    this.#values.delete(key);
  }
}

function createOutbox(answer: (message: OutgoingMessage) => SendOutcome, storage = new MemoryStorage()) {
  const sent: OutgoingMessage[] = [];
  let keys = 0;
  const outbox = new Outbox({
    stored: storedValue("outbox.s", parseOutgoing, storage),
    send: async (message) => {
      sent.push(message);
      return answer(message);
    },
    createKey: () => `key-${(keys += 1)}`,
    onChange: () => {},
  });
  return { outbox, sent, storage };
}

const message = { text: "hello", images: [], mode: "queue" } as const;

function accepted(key: string, change: Partial<Command> = {}): SendOutcome {
  const command = { id: `c-${key}`, key, kind: "message", state: "accepted", problem: null, ...change };
  return { type: "accepted", command: command as Command };
}

test("keeps the key of a message that is sent again", async () => {
  let isUp = false;
  const { outbox, sent } = createOutbox(({ key }) => (isUp ? accepted(key) : { type: "unreachable" }));
  await outbox.send(message);
  expect(outbox.messages).toMatchObject([{ key: "key-1", state: "unsent" }]);
  isUp = true;
  await outbox.flush();
  expect(outbox.messages).toMatchObject([{ key: "key-1", state: "accepted", commandId: "c-key-1" }]);
  expect(sent.map(({ key }) => key)).toEqual(["key-1", "key-1"]);
});

test("sends messages in order, and stops at the first one that can't be sent", async () => {
  const { outbox, sent } = createOutbox(() => ({ type: "unreachable" }));
  await outbox.send({ ...message, text: "one" });
  await outbox.send({ ...message, text: "two" });
  expect(sent.map(({ text }) => text)).toEqual(["one", "one"]);
  expect(outbox.messages.map(({ text }) => text)).toEqual(["one", "two"]);
});

test("keeps messages across a reload, including those with an unknown outcome", async () => {
  const { outbox, storage } = createOutbox(() => ({ type: "unreachable" }));
  await outbox.send(message);
  storage.setItem(
    "codexkit.outbox.s",
    JSON.stringify([{ ...outbox.messages[0], state: "sending" }, { key: 1 }]),
  );
  const { outbox: reloaded, sent } = createOutbox(({ key }) => accepted(key), storage);
  expect(reloaded.messages).toMatchObject([{ key: "key-1", state: "unsent" }]);
  await reloaded.flush();
  expect(sent).toMatchObject([{ key: "key-1", text: "hello" }]);
});

test("queues a steering message if the turn has already ended", async () => {
  const { outbox, sent } = createOutbox(({ key, mode }) =>
    mode === "steer"
      ? accepted(key, { state: "failed", problem: { type: "turn_not_running" } as Command["problem"] })
      : accepted(key),
  );
  await outbox.send({ ...message, mode: "steer" });
  expect(sent.map(({ mode, key }) => [mode, key])).toEqual([
    ["steer", "key-1"],
    ["queue", "key-2"],
  ]);
});

test("keeps the reason of a refusal, and sends the message again as a new one", async () => {
  let refused = true;
  const { outbox } = createOutbox(({ key }) =>
    refused ? { type: "refused", problem: { type: "forbidden", detail: "No scope." } } : accepted(key),
  );
  await outbox.send(message);
  expect(outbox.messages).toMatchObject([{ state: "refused", problem: "No scope." }]);
  refused = false;
  await outbox.retry("key-1");
  expect(outbox.messages).toMatchObject([{ key: "key-2", state: "accepted" }]);
});

test("removes an executed message", async () => {
  const { outbox, storage } = createOutbox(({ key }) => accepted(key));
  await outbox.send(message);
  outbox.finish("key-1");
  expect(outbox.messages).toEqual([]);
  expect(storage.getItem("codexkit.outbox.s")).toBeNull();
});
