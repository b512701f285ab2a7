// Approvals as chat messages: the daemon reports one by webhook, this program posts it to a chat, and the reply answers it.
import { createDaemon } from "@codexkit/daemon";
import { DaemonClient, DaemonClientError, verifyWebhook } from "@codexkit/daemon/client";
import { run, say } from "@codexkit/scripted-model";
import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample(({ newOutputs }) =>
  newOutputs.length > 0 ? say("Deployed.") : run("touch deployed", { escalate: "It deploys the service." }),
);
await using daemon = await createDaemon({
  stateFolder: join(setup.folder, "..", "daemon"),
  roots: [setup.folder],
  codex: setup.launch,
  userCodexHome: join(setup.folder, "..", "codex"),
  // The chat of this example is on loopback.
  allowPrivateAddresses: true,
  logger: "warn",
});
const { token } = await daemon.tokens.create({
  name: "chat",
  scopes: ["read", "write", "approve", "admin"],
  by: "example",
});
const client = new DaemonClient({ url: await daemon.listen(), token });

const handled = new Set<string>();

// The daemon's webhooks arrive here.
const hooks = await listen(async (request, response) => {
  const body = await text(request);
  let message;
  try {
    message = await verifyWebhook(secret, { headers: request.headers, body });
  } catch {
    response.writeHead(400).end();
    return;
  }
  response.end();
  // Messages are sent at least once.
  if (message.type !== "approval.opened" || !message.approval || handled.has(message.id)) return;
  handled.add(message.id);
  const { id, request: asked } = message.approval;
  const what = asked.kind === "command" ? asked.command : asked.kind;
  // A chat returns the value of a message's buttons with the reply.
  await post(`${chat.url}/messages`, { text: `Allow \`${what}\`? Reply yes or no.`, value: id });
});
const { secret } = await client.request("POST /webhooks", {
  body: { url: `${hooks.url}/daemon`, events: ["approval.opened"] },
});

// The chat's replies arrive here.
const replies = await listen(async (request, response) => {
  const reply = JSON.parse(await text(request)) as { value: string; text: string; author: string };
  response.end();
  try {
    const offer = reply.text === "yes" ? "accept" : "decline";
    await client.answer(reply.value, { type: "decision", offer, reason: `${reply.author} in the chat` });
    console.log(`${reply.author} answered ${reply.text}`);
  } catch (error) {
    if (!DaemonClientError.is(error) || error.code !== "already_answered") throw error;
    console.log("It had been answered before.");
  }
});

// A chat in which a person says yes to everything.
const chat = await listen(async (request, response) => {
  const message = JSON.parse(await text(request)) as { text: string; value: string };
  console.log(`chat: ${message.text}`);
  response.end();
  await post(replies.url, { value: message.value, text: "yes", author: "The reviewer" });
});

const { session } = await client.createSession({ cwd: setup.folder, permissionMode: "read-only" });
await client.send(session.id, "Deploy the service");
for await (const event of client.sessionEvents(session.id)) {
  if (event.type !== "turn.completed") continue;
  console.log(event.result.finalResponse);
  break;
}
for (const { server } of [hooks, replies, chat]) {
  server.close();
  // They are kept for further requests, and would keep this program running.
  server.closeAllConnections();
}

async function listen(handle: (...args: Parameters<RequestListener>) => Promise<void>) {
  const server = createServer((...args) => void handle(...args));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: "POST", body: JSON.stringify(body) });
}
