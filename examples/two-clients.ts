// Two clients share a thread: one runs a turn, the other reads its events, and either can approve. The first answer wins.
import { run, say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { join } from "node:path";
import { setUpExample } from "./set-up-example.ts";

await using setup = await setUpExample([
  [say("Hello.")],
  [run("date", { escalate: "to know the time" })],
  [say("It is late.")],
]);

// A server that this program launches and other clients can join.
const url = `unix://${join(setup.folder, "..", "codex.sock")}`;
await using first = await Codex.launch({
  ...setup.launch,
  listen: url,
  // Never answers, so an approval stays open until another client answers or the turn ends.
  handlers: { approve: () => new Promise<never>(() => {}) },
});
const thread = await first.startThread({ cwd: setup.folder, approvalPolicy: "on-request" });
await thread.run("Create some history"); // A thread can be joined once it is stored.

await using second = await Codex.connect(url, {
  handlers: {
    commandApproval: ({ command }) => {
      console.log(`second client approves: ${command}`);
      return "accept";
    },
  },
});
const joined = await second.resumeThread(thread.id);
const events = joined.events();

const turn = thread.run("What time is it?");
for await (const event of events) {
  if (event.type === "turn.completed") {
    console.log(`second client receives: ${event.result.finalResponse}`);
    break;
  }
}
console.log(`first client gets: ${(await turn).finalResponse}`);
