// Runs the programs of terminals, in a process of its own. It ends, with all of them, when the daemon closes the pipe or dies.
import { ExecServer } from "@codexkit/exec-server";

await using server = await ExecServer.start({ listen: "stdio", bwrap: null });
await server.done;
await server.close();
process.exit();
