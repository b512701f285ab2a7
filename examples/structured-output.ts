// Structured output: the schema is sent to the model, and the result is parsed, validated and typed.
import { say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { z } from "zod";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([
  [
    say("Let me look.", { phase: "commentary" }),
    say('{"name":"codexkit","stars":5}', { phase: "final_answer" }),
  ],
]);

await using codex = await Codex.launch(setup.launch);
const thread = await codex.startThread({ cwd: setup.folder });
const { structured } = await thread.run("Rate this project", {
  outputSchema: z.object({ name: z.string(), stars: z.number().min(0).max(5) }),
});
console.log(`${structured.name}: ${"*".repeat(structured.stars)}`);
