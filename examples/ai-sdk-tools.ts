// AI SDK tools: Codex calls them, this program runs them, and the turn continues with the result.
import { createCodex } from "@codexkit/ai-sdk";
import { callTool, say } from "@codexkit/scripted-model";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample(({ newOutputs }) =>
  newOutputs.length === 0
    ? callTool("weather", { city: "Oslo" })
    : say(`The tool says: ${newOutputs[0]?.text}`),
);
await using codex = createCodex({ launch: setup.launch, cwd: setup.folder });

const { text, steps } = await generateText({
  model: codex("gpt-5.5"),
  prompt: "What is the weather in Oslo?",
  tools: {
    weather: tool({
      description: "The current weather in a city.",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `It snows in ${city}.`,
    }),
  },
  stopWhen: isStepCount(5),
});
console.log(`${text} (${steps.length} steps)`);
