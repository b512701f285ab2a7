// A chat route for `useChat`. Each conversation finds its thread by its messages. Messages come from a browser, and
// the id of a thread in their metadata lets its sender continue that thread, so the route checks who owns it.
import { createCodex } from "@codexkit/ai-sdk";
import { run, say } from "@codexkit/scripted-model";
import {
  convertToModelMessages,
  DefaultChatTransport,
  type ModelMessage,
  type ProviderMetadata,
  readUIMessageStream,
  streamText,
  type UIMessage,
} from "ai";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([
  [run("ls")],
  [say("The folder is empty.")],
  [say("I ran ls in it, as you asked.")],
]);
await using codex = createCodex({ launch: setup.launch, cwd: setup.folder });

/** The owner of each thread. A real application uses a database table. */
const owners = new Map<string, string>();

/** Returns the user of a request. A real application reads the session cookie and never trusts the request itself. */
const userOf = (request: Request): string => request.headers.get("x-user") ?? "anonymous";

/** The handler that a framework such as Next.js calls for `POST /api/chat`. */
async function POST(request: Request): Promise<Response> {
  const user = userOf(request);
  const { messages } = (await request.json()) as { messages: UIMessage[] };
  const prompt = await convertToModelMessages(messages);
  if (threadIdsOf(prompt).some((threadId) => owners.get(threadId) !== user)) {
    return new Response("This conversation belongs to another user.", { status: 403 });
  }
  const result = streamText({
    model: codex("gpt-5.5"),
    messages: prompt,
    abortSignal: request.signal,
    // The first part of a response names its thread, so that the owner is recorded even if the response is cut off.
    onChunk: ({ chunk }) => claim("providerMetadata" in chunk ? chunk.providerMetadata : undefined, user),
    onStepEnd: ({ providerMetadata }) => claim(providerMetadata, user),
  });
  return result.toUIMessageStreamResponse();
}

/** Records the owner of a thread, unless the thread already has one. */
function claim(metadata: ProviderMetadata | undefined, user: string): void {
  const threadId = metadata?.["codex"]?.["threadId"];
  if (typeof threadId === "string" && !owners.has(threadId)) owners.set(threadId, user);
}

/** Returns all thread ids in the messages. */
function threadIdsOf(messages: readonly ModelMessage[]): string[] {
  return [...JSON.stringify(messages).matchAll(/"threadId":"([^"]+)"/g)].map(([, threadId = ""]) => threadId);
}

// The client: the transport of `useChat`, without the browser.
const transportOf = (user: string): DefaultChatTransport<UIMessage> =>
  new DefaultChatTransport({
    api: "http://localhost/api/chat",
    headers: { "x-user": user },
    fetch: (url, init) => POST(new Request(url, init)),
  });
const transport = transportOf("ann");
const messages: UIMessage[] = [];
for (const text of ["What is in this folder?", "How do you know?"]) {
  messages.push({ id: `user-${messages.length}`, role: "user", parts: [{ type: "text", text }] });
  const stream = await transport.sendMessages({
    chatId: "chat-1",
    messages,
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
  let reply: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream })) reply = state;
  if (reply) messages.push(reply);
  for (const part of reply?.parts ?? []) {
    if (part.type === "dynamic-tool") console.log(`${part.toolName}: ${part.state}`);
    if (part.type === "text") console.log(part.text);
  }
}

// Another user who sends Ann's messages is rejected.
const { status } = await POST(
  new Request("http://localhost/api/chat", {
    method: "POST",
    headers: { "x-user": "ben" },
    body: JSON.stringify({ messages }),
  }),
);
console.log(`Ben's request with Ann's messages: ${status}`);
