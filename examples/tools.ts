// A tool that the agent can call. Its input is validated before it runs, and errors are reported to the model.
import { callTool, say } from "@codexkit/scripted-model";
import { Codex, defineTool } from "codexkit";
import { z } from "zod";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample(({ newOutputs }) =>
  newOutputs.length === 0
    ? callTool("weather", { city: "Oslo" })
    : say(`The tool says: ${newOutputs[0]?.text}`),
);

const weather = defineTool({
  name: "weather",
  description: "The current weather in a city.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `It snows in ${city}.`,
});

await using codex = await Codex.launch(setup.launch);
const thread = await codex.startThread({ cwd: setup.folder, tools: [weather] });
const { finalResponse } = await thread.run("What is the weather in Oslo?");
console.log(finalResponse);
