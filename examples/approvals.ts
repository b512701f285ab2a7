// Asks a person before Codex leaves its sandbox. Answer with y (this time), a (for the whole session) or n.
import { run, say } from "@codexkit/scripted-model";
import { Codex, type CommandApproval, type CommandDecision } from "codexkit";
import { createInterface } from "node:readline/promises";
import { onAScript } from "./on-a-script.ts";

await using stage = await onAScript([
  [run("echo outside the sandbox", { escalate: "The test needs the network." })],
  [say("Done.")],
]);

const terminal = createInterface({ input: process.stdin, output: process.stdout });

async function ask({ command, cwd, reason }: CommandApproval, signal: AbortSignal): Promise<CommandDecision> {
  console.log(`Codex wants to run, in ${cwd}:\n  ${command}\n${reason ?? ""}`);
  // The signal fires when nobody waits for the answer any more, such as when the turn is interrupted.
  const answer = await terminal.question("Allow it? [y/a/N] ", { signal });
  return answer === "y" ? "accept" : answer === "a" ? "acceptForSession" : "decline";
}

await using codex = await Codex.launch({
  ...stage.launch,
  handlers: { commandApproval: (approval, { signal }) => ask(approval, signal) },
});
const thread = await codex.startThread({
  cwd: stage.folder,
  sandbox: "workspace-write",
  approvalPolicy: "on-request",
});
const { items, finalResponse } = await thread.run("Run the tests");
for (const item of items) {
  if (item.type === "commandExecution") console.log(`${item.status}: ${item.aggregatedOutput ?? ""}`);
}
console.log(finalResponse);
terminal.close();
