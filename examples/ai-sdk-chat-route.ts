// A chat route as `useChat` talks to it. It keeps nothing: each conversation finds its thread by its messages.
import { createCodex } from "@codexkit/ai-sdk";
import { run, say } from "@codexkit/scripted-model";
import {
  convertToModelMessages,
  DefaultChatTransport,
  readUIMessageStream,
  streamText,
  type UIMessage,
} from "ai";
import { onAScript } from "./on-a-script.ts";

await using stage = await onAScript([
  [run("ls")],
  [say("The folder is empty.")],
  [say("I ran ls in it, as you asked.")],
]);
await using codex = createCodex({ launch: stage.launch, cwd: stage.folder });

/** What a framework such as Next.js calls for `POST /api/chat`. */
async function POST(request: Request): Promise<Response> {
  const { messages } = (await request.json()) as { messages: UIMessage[] };
  const result = streamText({
    model: codex("gpt-5.5"),
    messages: await convertToModelMessages(messages),
    abortSignal: request.signal,
  });
  return result.toUIMessageStreamResponse();
}

// The other end: the transport of `useChat`, without the browser.
const transport = new DefaultChatTransport({
  api: "http://localhost/api/chat",
  fetch: (url, init) => POST(new Request(url, init)),
});
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
