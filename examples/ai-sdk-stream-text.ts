// Streams everything that Codex does: text, reasoning, and commands as provider-executed tool calls.
import { createCodex } from "@codexkit/ai-sdk";
import { run, say, think } from "@codexkit/scripted-model";
import { streamText } from "ai";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([
  [think("I look first."), run("echo one; echo two")],
  [say("There are two lines.", { chunkSize: 5 })],
]);
await using codex = createCodex({ launch: setup.launch, cwd: setup.folder });

const { stream } = streamText({ model: codex("gpt-5.5"), prompt: "How many lines does it print?" });
for await (const part of stream) {
  switch (part.type) {
    case "reasoning-delta":
    case "text-delta":
      process.stdout.write(part.text);
      break;
    case "tool-call":
      console.log(`\n$ ${JSON.stringify(part.input)}`);
      break;
    case "tool-result":
      console.log(JSON.stringify(part.output));
      break;
    case "finish":
      console.log(`\n${part.finishReason}, ${part.totalUsage.totalTokens} tokens`);
      break;
    default: // Starts and ends of parts.
  }
}
