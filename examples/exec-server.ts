// Codex runs its commands on an exec-server, here on the same machine.
import { ExecServer } from "@codexkit/exec-server";
import { run, say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { createHash } from "node:crypto";
import { setUpExample } from "./set-up-example.ts";

const token = "a secret that only the server and its clients know";
await using server = await ExecServer.start({
  auth: { mode: "capability-token", tokenSha256: createHash("sha256").update(token).digest("hex") },
});

await using setup = await setUpExample([[run("echo built on the exec-server")], [say("The build passes.")]]);
await using codex = await Codex.launch(setup.launch);
await codex.environments.add({ id: "builder", url: server.url ?? "", bearerToken: token });
const { shell } = await codex.environments.info("builder");
console.log(`attached: ${shell.name}`);

const thread = await codex.startThread({
  sandbox: "danger-full-access",
  environments: [{ environmentId: "builder", cwd: setup.folder }],
});
const turn = thread.run("Build the project.");
for await (const event of turn) {
  // The output of a quick command comes with the completed item, without deltas.
  if (event.type === "item.completed" && event.item.type === "commandExecution") {
    process.stdout.write(event.item.aggregatedOutput ?? "");
  }
}
console.log((await turn).finalResponse);
