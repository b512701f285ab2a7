import { StoreError } from "@codexkit/store";
import { CodexError } from "codexkit";
import { describe, expect, test } from "vitest";
import { ownedSession, useDatabases } from "../../test/database-fixture.ts";
import type { CommandStore, PendingCommand } from "../commands/command-store.ts";
import type { Database } from "../database.ts";
import type { Step } from "./command-executor.ts";
import { CommandQueue } from "./command-queue.ts";

const databases = useDatabases("sqlite");
const unavailable = (): StoreError => new StoreError("store_unavailable", "Postgres is not available.");

interface QueueFixture {
  readonly queue: CommandQueue;
  readonly id: string;
  /** The problem or the result that is stored. */
  readonly result: () => Promise<unknown>;
}

/** A queue with one command, which `execute` carries out. */
async function queueOf(
  database: Database,
  kind: "shell" | "message",
  execute: (command: PendingCommand, queue: CommandQueue) => Promise<Step>,
  mayRetry = () => false,
): Promise<QueueFixture> {
  const owner = await ownedSession(database);
  const { sessionId } = owner;
  const body = kind === "shell" ? { command: "make" } : { input: "hello", mode: "queue" as const };
  const { command } = await database.commands.submit({ sessionId, key: "key", kind, body, by: "test" });
  const queue = new CommandQueue({
    owner,
    commands: database.commands,
    execute: (pending) => execute(pending, queue),
    explain: async () => ({ type: "internal", title: "", status: 500, detail: "explained" }),
    mayRetry,
    isStopped: () => false,
    onChange: () => {},
    onError: () => {},
  });
  return {
    queue,
    id: command.id,
    result: async () => JSON.parse((await database.commands.get(command.id))?.result ?? "null") as unknown,
  };
}

/** Makes a method of the store fail once as if Postgres were restarting. */
function failOnce(commands: CommandStore, method: "begin" | "finish" | "get"): void {
  const call = commands[method].bind(commands) as (...args: unknown[]) => Promise<never>;
  commands[method] = async () => {
    commands[method] = call;
    throw unavailable();
  };
}

describe("an app-server that can't be reached for a while", () => {
  const overloaded = (): CodexError => new CodexError("overloaded", "The server is overloaded.");

  test("does not fail a command that was not sent yet", async () => {
    await using database = await databases.open();
    let attempts = 0;
    const execute = async (): Promise<Step> => {
      attempts += 1;
      if (attempts === 1) throw overloaded();
      return { result: { ok: true } };
    };
    const { queue, result } = await queueOf(database, "message", execute, () => true);
    await expect(queue.run()).rejects.toMatchObject({ code: "overloaded" });
    await queue.run();
    expect(await result()).toEqual({ ok: true });
  });

  test("fails a command that was sent, or was tried too often", async () => {
    await using database = await databases.open();
    const sent = await queueOf(
      database,
      "message",
      async (command, self) => {
        await self.begin(command);
        throw overloaded();
      },
      () => true,
    );
    await sent.queue.run();
    expect(await sent.result()).toMatchObject({ ok: false });
    const tried = await queueOf(database, "message", () => Promise.reject(overloaded()));
    await tried.queue.run();
    expect(await tried.result()).toMatchObject({ ok: false });
  });
});

describe("an outage of the store", () => {
  test("before a command is carried out does not fail the command", async () => {
    await using database = await databases.open();
    let sent = 0;
    const { queue, result } = await queueOf(database, "message", async (command, self) => {
      await self.begin(command);
      sent += 1;
      return { result: { ok: true } };
    });
    failOnce(database.commands, "begin");
    await expect(queue.run()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await result()).toBeNull();
    await queue.run();
    expect(await result()).toEqual({ ok: true });
    expect(sent).toBe(1);
  });

  test("after a command was carried out does not repeat it", async () => {
    await using database = await databases.open();
    let sent = 0;
    const { queue, result } = await queueOf(database, "shell", async (command, self) => {
      await self.begin(command);
      sent += 1;
      failOnce(database.commands, "get");
      return { result: { ok: true, turnId: "turn" } };
    });
    await queue.run().catch(() => {});
    await queue.run();
    expect(await result()).toEqual({ ok: true, turnId: "turn" });
    expect(sent).toBe(1);
  });

  test("while a command is carried out leaves it unknown whether it was sent", async () => {
    await using database = await databases.open();
    const unsure: boolean[] = [];
    const { queue } = await queueOf(database, "shell", async (command, self) => {
      unsure.push(self.mayHaveBeenSent(command));
      if (unsure.length === 2) return { result: { ok: true } };
      await self.begin(command);
      throw unavailable();
    });
    await expect(queue.run()).rejects.toMatchObject({ code: "store_unavailable" });
    await queue.run();
    expect(unsure).toEqual([false, true]);
  });
});

test("a queue is busy while it carries out a command", async () => {
  await using database = await databases.open();
  const held = Promise.withResolvers<Step>();
  const { queue } = await queueOf(database, "message", () => held.promise);
  const run = queue.run();
  await expect.poll(() => queue.isBusy).toBe(true);
  held.resolve({ result: { ok: true } });
  await run;
  expect(queue.isBusy).toBe(false);
});
