// Streams structured output. The agent's commentary is not part of it.
import { createCodex } from "@codexkit/ai-sdk";
import { say } from "@codexkit/scripted-model";
import { Output, streamText } from "ai";
import { z } from "zod";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([
  [
    say("Let me look.", { phase: "commentary" }),
    say('{"name":"codexkit","stars":5}', { phase: "final_answer", chunkSize: 6, everyMs: 5 }),
  ],
]);
await using codex = createCodex({ launch: setup.launch, cwd: setup.folder });

const result = streamText({
  model: codex("gpt-5.5"),
  prompt: "Rate this project",
  output: Output.object({ schema: z.object({ name: z.string(), stars: z.number() }) }),
});
for await (const partial of result.partialOutputStream) console.log(JSON.stringify(partial));
const { name, stars } = await result.output;
console.log(`${name}: ${"*".repeat(stars)}`);
