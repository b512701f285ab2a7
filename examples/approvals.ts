// Asks the user before Codex leaves its sandbox. Answer with y (once), a (for the whole session) or n.
import { run, say } from "@codexkit/scripted-model";
import { Codex, type CommandApproval, type CommandDecision } from "codexkit";
import { createInterface } from "node:readline/promises";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([
  [run("echo outside the sandbox", { escalate: "The test needs the network." })],
  [say("Done.")],
]);

const terminal = createInterface({ input: process.stdin, output: process.stdout });

async function ask({ command, cwd, reason }: CommandApproval, signal: AbortSignal): Promise<CommandDecision> {
  console.log(`Codex wants to run, in ${cwd}:\n  ${command}\n${reason ?? ""}`);
  // The signal aborts when the answer is no longer needed, for example because the turn was interrupted.
  const answer = await terminal.question("Allow it? [y/a/N] ", { signal });
  return answer === "y" ? "accept" : answer === "a" ? "acceptForSession" : "decline";
}

await using codex = await Codex.launch({
  ...setup.launch,
  handlers: { commandApproval: (approval, { signal }) => ask(approval, signal) },
});
const thread = await codex.startThread({
  cwd: setup.folder,
  sandbox: "workspace-write",
  approvalPolicy: "on-request",
});
const { items, finalResponse } = await thread.run("Run the tests");
for (const item of items) {
  if (item.type === "commandExecution") console.log(`${item.status}: ${item.aggregatedOutput ?? ""}`);
}
console.log(finalResponse);
terminal.close();
