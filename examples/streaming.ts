// Streams everything that happens in a turn. `--model gpt-6.1-sol` uses a model that writes code.
import { demoScript } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { parseArgs, styleText } from "node:util";
import { setUpExample } from "./set-up-example.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "gpt-5.5" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log("Usage: node examples/streaming.ts [--model NAME] [what to say to Codex]");
  process.exit(0);
}
const prompt = positionals.join(" ") || "Show me that you are alive";
const write = (text: string): void => void process.stdout.write(text);

await using setup = await setUpExample(demoScript, values.model);
await using codex = await Codex.launch(setup.launch);
const thread = await codex.startThread({
  cwd: setup.folder,
  sandbox: "workspace-write",
  approvalPolicy: "never",
  ephemeral: true,
});

write(styleText("bold", `> ${prompt}\n\n`));
const turn = thread.run(prompt);
for await (const event of turn) {
  switch (event.type) {
    case "item.delta":
      write(event.kind === "message" ? event.delta : styleText("dim", event.delta));
      break;
    case "item.started":
      if (event.item.type === "commandExecution") write(styleText("cyan", `$ ${event.item.command}\n`));
      break;
    case "item.completed":
      if (event.item.type === "commandExecution")
        write(styleText("cyan", `exit code ${event.item.exitCode}\n\n`));
      else if (event.item.type !== "userMessage") write("\n\n");
      break;
    default: // Plans, diffs, usage, approvals and the rest: see CodexEvent.
  }
}
const { status, durationMs, usage } = await turn;
write(styleText("green", `The turn ${status} in ${durationMs} ms, with ${usage.totalTokens} tokens.\n`));
