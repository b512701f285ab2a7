// Attaches to a running server, which keeps running after this program ends.
import { say } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import { Codex } from "codexkit";

// Replaces `codex app-server --listen ws://127.0.0.1:PORT` in another terminal.
await using server = await startAppServer({
  model: [[say("Hello from a server that was already running.")]],
  listen: "ws",
});

await using codex = await Codex.connect(server.url ?? "ws://127.0.0.1:4500");
const { userAgent } = await codex.server();
console.log(`attached to ${userAgent.split(" ")[0]}`);

const thread = await codex.startThread({ cwd: server.workspace });
console.log((await thread.run("Hello?")).finalResponse);
