// Launches a codex that outlives this program, starts a turn, prints its address, and waits to be killed: before the server is
// registered with "unregistered" as the second argument.
import { Codex, type LaunchOptions } from "codexkit";

const { cwd = "", ...options } = JSON.parse(process.argv[2] ?? "{}") as LaunchOptions;
const { outliveOwner = { graceMs: 60_000 } } = options;
const codex = await Codex.launch({
  ...options,
  outliveOwner: {
    ...outliveOwner,
    register: async (server) => {
      if (process.argv[3] !== "unregistered") return;
      process.stdout.write(`${JSON.stringify(server)}\n`);
      await new Promise(() => setInterval(() => {}, 60_000));
    },
  },
});
const thread = await codex.startThread({ cwd });
const turn = thread.run("hold");
for await (const event of turn) if (event.type === "item.delta") break;
process.stdout.write(
  `${JSON.stringify({ url: codex.url, pid: codex.pid, threadId: thread.id, turnId: await turn.id })}\n`,
);
setInterval(() => {}, 60_000);
