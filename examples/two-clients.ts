// Two clients on one thread: one asks, the other listens, and either may approve. The first answer counts.
import { run, say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { join } from "node:path";
import { onAScript } from "./on-a-script.ts";

await using stage = await onAScript([
  [say("Hello.")],
  [run("date", { escalate: "to know the time" })],
  [say("It is late.")],
]);

// A server that others may join, owned by this program.
const url = `unix://${join(stage.folder, "..", "codex.sock")}`;
await using first = await Codex.launch({
  ...stage.launch,
  listen: url,
  // Never answers: what is asked stays open until another client answers, or the turn ends.
  handlers: { approve: () => new Promise<never>(() => {}) },
});
const thread = await first.startThread({ cwd: stage.folder, approvalPolicy: "on-request" });
await thread.run("Only to have a history"); // A thread can be joined once it is stored.

await using second = await Codex.connect(url, {
  handlers: {
    commandApproval: ({ command }) => {
      console.log(`second client approves: ${command}`);
      return "accept";
    },
  },
});
const joined = await second.resumeThread(thread.id);
const heard = joined.events();

const turn = thread.run("What time is it?");
for await (const event of heard) {
  if (event.type === "turn.completed") {
    console.log(`second client hears: ${event.result.finalResponse}`);
    break;
  }
}
console.log(`first client gets: ${(await turn).finalResponse}`);
