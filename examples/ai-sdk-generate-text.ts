// Codex as a model of the AI SDK. Pass the earlier messages to continue their thread.
import { createCodex } from "@codexkit/ai-sdk";
import { say } from "@codexkit/scripted-model";
import { generateText, type ModelMessage } from "ai";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([[say("Hello. Ask me anything.")], [say("You said hello.")]]);
await using codex = createCodex({ launch: setup.launch, cwd: setup.folder });
const model = codex("gpt-5.5");

const messages: ModelMessage[] = [{ role: "user", content: "Hello" }];
const first = await generateText({ model, messages });
console.log(first.text);

messages.push(...first.responseMessages, { role: "user", content: "What did I say?" });
const second = await generateText({ model, messages });
console.log(second.text);

const [before, after] = [first, second].map(
  ({ providerMetadata }) => providerMetadata?.["codex"]?.["threadId"],
);
console.log(`${second.usage.totalTokens} tokens, ${before === after ? "the same thread" : "another thread"}`);
