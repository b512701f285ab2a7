// One turn of the real Codex, streamed to the terminal. No key is needed: the model is a script on a local endpoint, the
// command and everything else is real. `npm start` runs this; `npm start -- --model gpt-6.1-sol` shows a model that writes code.
import { demoScript } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import { parseArgs, styleText } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "gpt-5.5" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log("Usage: npm start -- [--model NAME] [what to say to Codex]");
  process.exit(0);
}
const prompt = positionals.join(" ") || "Show me that you are alive";

await using server = await startAppServer({ model: demoScript, modelName: values.model });
const peer = await server.connect();
const ended = Promise.withResolvers<void>();

peer.on("item/reasoning/summaryTextDelta", ({ delta }) => void process.stdout.write(styleText("dim", delta)));
peer.on("item/agentMessage/delta", ({ delta }) => void process.stdout.write(delta));
peer.on(
  "item/commandExecution/outputDelta",
  ({ delta }) => void process.stdout.write(styleText("yellow", delta)),
);
peer.on("item/started", ({ item }) => {
  if (item.type === "commandExecution") console.log(styleText("cyan", `\n$ ${item.command}`));
});
peer.on("item/completed", ({ item }) => {
  if (item.type === "commandExecution") console.log(styleText("cyan", `exit code ${item.exitCode}`));
  else if (item.type === "agentMessage" || item.type === "reasoning") console.log("\n");
});
peer.on("turn/completed", ({ turn }) => {
  console.log(styleText("green", `The turn ${turn.status} in ${turn.durationMs} ms.`));
  if (turn.error) ended.reject(new Error(turn.error.message));
  else ended.resolve();
});

console.log(styleText("bold", `> ${prompt}\n`));
const { thread } = await peer.request("thread/start", {
  cwd: server.workspace,
  sandbox: "workspace-write",
  approvalPolicy: "never",
  ephemeral: true,
});
await peer.request("turn/start", {
  threadId: thread.id,
  input: [{ type: "text", text: prompt, text_elements: [] }],
});
const closed = peer.closed.then((error) => {
  throw error;
});
await Promise.race([ended.promise, closed]);
