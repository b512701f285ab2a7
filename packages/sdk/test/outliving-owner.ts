// Launches a codex that outlives this program, starts a turn, prints its address, and waits to be killed.
import { Codex, type LaunchOptions } from "codexkit";

const { cwd = "", ...options } = JSON.parse(process.argv[2] ?? "{}") as LaunchOptions;
const codex = await Codex.launch(options);
const thread = await codex.startThread({ cwd });
const turn = thread.run("hold");
for await (const event of turn) if (event.type === "item.delta") break;
process.stdout.write(
  `${JSON.stringify({ url: codex.url, pid: codex.pid, threadId: thread.id, turnId: await turn.id })}\n`,
);
setInterval(() => {}, 60_000);
