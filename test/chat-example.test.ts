// Drives the handlers of examples/approve-from-chat.ts with a chat in which a person answers in different ways.
import { run, say } from "@codexkit/scripted-model";
import type { IncomingHttpHeaders } from "node:http";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectChat } from "../examples/approve-from-chat.ts";
import { useDatabases } from "../packages/daemon/test/database-fixture.ts";
import { Receiver } from "../packages/daemon/test/receiver.ts";
import { createDaemonHome } from "../packages/daemon/test/start-daemon.ts";

const databases = useDatabases("sqlite");

/** A daemon whose agent wants to deploy, and a chat that has received its request. */
async function askInChat() {
  await using made = new AsyncDisposableStack();
  const home = made.use(
    await createDaemonHome(
      ({ newOutputs }) =>
        newOutputs.length > 0 ? say("Over.") : run("touch deployed", { escalate: "It deploys the service." }),
      { kind: "sqlite", locations: databases.locations },
    ),
  );
  const hooks = made.use(await Receiver.start());
  const { client } = made.use(await home.start({ allowPrivateAddresses: true }));
  const { secret } = await client.request("POST /webhooks", {
    body: { url: hooks.url, events: ["approval.opened"] },
  });
  const messages: { text: string; value: string }[] = [];
  const chat = connectChat({ client, secret, post: async (message) => void messages.push(message) });
  const { session } = await client.createSession({
    cwd: home.folders.workspace,
    permissionMode: "read-only",
  });
  await client.send(session.id, "Deploy the service");
  const [delivery] = await hooks.waitFor(1);
  const deliver = async (headers: IncomingHttpHeaders = {}) =>
    chat.onWebhook({ ...delivery?.headers, ...headers }, delivery?.body ?? "");
  expect(await deliver()).toBe(200);
  const value = messages[0]?.value ?? "";
  const resources = made.move();
  return {
    chat,
    client,
    messages,
    value,
    deliver,
    /** Resolves when the turn has ended, to whether the command was run. */
    isDeployed: async () => {
      for await (const { type } of client.sessionEvents(session.id)) if (type === "turn.completed") break;
      return existsSync(join(home.folders.workspace, "deployed"));
    },
    [Symbol.asyncDispose]: async () => resources.disposeAsync(),
  };
}

test.each([
  { reply: "yes", runs: true },
  { reply: "no", runs: false },
])("the reply $reply decides whether the command runs", async ({ reply, runs }) => {
  await using it = await askInChat();
  expect(it.messages).toMatchObject([{ text: expect.stringContaining("touch deployed") as string }]);
  const answered = await it.chat.onReply({ value: it.value, text: reply, author: "Ann" });
  expect(answered).toBe(`Ann answered ${reply}`);
  expect(await it.isDeployed()).toBe(runs);
  const { data } = await it.client.request("GET /inbox", { query: {} });
  expect(data).toMatchObject([{ id: it.value, answer: { reason: "Ann in the chat" } }]);
});

test("a message that is delivered twice is posted once, and an unsigned one is rejected", async () => {
  await using it = await askInChat();
  expect(await it.deliver()).toBe(200);
  expect(await it.deliver({ "webhook-signature": "v1,AAAA" })).toBe(400);
  expect(it.messages).toHaveLength(1);
});

test("a reply after another answer changes nothing", async () => {
  await using it = await askInChat();
  await it.client.answer(it.value, { type: "decision", offer: "decline" });
  expect(await it.chat.onReply({ value: it.value, text: "yes", author: "Ann" })).toBe(
    "It has already been answered.",
  );
  expect(await it.isDeployed()).toBe(false);
});
