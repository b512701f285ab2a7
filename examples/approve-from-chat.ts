// Approvals as chat messages: the daemon sends an approval by webhook, this program posts it to a chat, and a reply answers it.
// When run directly, it uses the terminal as the chat.
import { createDaemon } from "@codexkit/daemon";
import { DaemonClient, DaemonClientError, verifyWebhook } from "@codexkit/daemon/client";
import { run, say } from "@codexkit/scripted-model";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { setUpExample } from "./set-up-example.ts";

interface ChatOptions {
  readonly client: DaemonClient;
  readonly secret: string;
  /** Posts a message to the chat. The chat returns `value`, the value of the message's buttons, with the reply. */
  readonly post: (message: { text: string; value: string }) => Promise<void>;
}

export function connectChat({ client, secret, post }: ChatOptions) {
  const handled = new Set<string>();
  return {
    /** Handles a webhook from the daemon. Resolves to the response's status. */
    async onWebhook(headers: IncomingHttpHeaders, body: string): Promise<number> {
      let message;
      try {
        message = await verifyWebhook(secret, { headers, body });
      } catch {
        return 400;
      }
      // The daemon delivers each message at least once.
      if (message.type !== "approval.opened" || !message.approval || handled.has(message.id)) return 200;
      handled.add(message.id);
      const { id, request } = message.approval;
      const what = request.kind === "command" ? request.command : request.kind;
      await post({ text: `Allow \`${what}\`? Reply yes or no.`, value: id });
      return 200;
    },

    /** Handles a reply in the chat. Resolves to a message for its author. */
    async onReply(reply: { value: string; text: string; author: string }): Promise<string> {
      const offer = reply.text === "yes" ? "accept" : "decline";
      try {
        await client.answer(reply.value, { type: "decision", offer, reason: `${reply.author} in the chat` });
        return `${reply.author} answered ${reply.text}`;
      } catch (error) {
        if (!DaemonClientError.is(error) || error.code !== "already_answered") throw error;
        return "It has already been answered.";
      }
    },
  };
}

if (import.meta.main) {
  await using setup = await setUpExample(({ newOutputs }) =>
    newOutputs.length > 0 ? say("Deployed.") : run("touch deployed", { escalate: "It deploys the service." }),
  );
  await using daemon = await createDaemon({
    stateFolder: join(setup.folder, "..", "daemon"),
    roots: [setup.folder],
    codex: setup.launch,
    userCodexHome: join(setup.folder, "..", "codex"),
    // This example's webhooks go to loopback.
    allowPrivateAddresses: true,
    logger: "warn",
  });
  const { token } = await daemon.tokens.create({
    name: "chat",
    scopes: ["read", "write", "approve", "admin"],
    by: "example",
  });
  const client = new DaemonClient({ url: await daemon.listen(), token });

  // The daemon's webhooks arrive here. The response does not wait for the person.
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    response.writeHead(await chat.onWebhook(request.headers, body)).end();
  };
  const hooks = createServer((request, response) => void receive(request, response));
  hooks.listen(0, "127.0.0.1");
  await once(hooks, "listening");
  const { secret } = await client.request("POST /webhooks", {
    body: {
      url: `http://127.0.0.1:${(hooks.address() as AddressInfo).port}`,
      events: ["approval.opened"],
    },
  });

  const terminal = createInterface({ input: process.stdin });
  const chat = connectChat({
    client,
    secret,
    post: async ({ text: question, value }) => {
      console.log(`chat: ${question}`);
      const reply = async (line: string): Promise<void> =>
        console.log(await chat.onReply({ value, text: line.trim(), author: "The reviewer" }));
      terminal.once("line", (line: string) => void reply(line));
    },
  });

  const { session } = await client.createSession({ cwd: setup.folder, permissionMode: "read-only" });
  await client.send(session.id, "Deploy the service");
  for await (const event of client.sessionEvents(session.id)) {
    if (event.type !== "turn.completed") continue;
    console.log(event.result.finalResponse);
    break;
  }
  terminal.close();
  hooks.close();
  // Idle connections are kept open for further requests and would keep this program running.
  hooks.closeAllConnections();
}
