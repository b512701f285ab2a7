// Codex as a model of the AI SDK. The thread of a conversation is found by its messages: pass them on, and it goes on.
import { createCodex } from "@codexkit/ai-sdk";
import { say } from "@codexkit/scripted-model";
import { generateText } from "ai";
import { onAScript } from "./on-a-script.ts";

await using stage = await onAScript(({ input, lastUserText }) =>
  say(
    lastUserText === "Hello" ? "Hello. Ask me anything." : `You said ${input.filter(isUsers).length} things.`,
  ),
);
await using codex = createCodex({ launch: stage.launch, cwd: stage.folder });
const model = codex("gpt-5.5");

const first = await generateText({ model, prompt: "Hello" });
console.log(first.text);

const second = await generateText({
  model,
  messages: [
    { role: "user", content: "Hello" },
    ...first.response.messages,
    { role: "user", content: "What did I say?" },
  ],
});
console.log(second.text);
console.log(`${second.usage.totalTokens} tokens`);

/** For the script: what a person wrote, and not what Codex adds in their name. */
function isUsers({ role, content }: Readonly<Record<string, unknown>>): boolean {
  return role === "user" && !JSON.stringify(content).includes("<environment_context>");
}
