// Runs the programs of terminals in a separate process. The process and all its programs end when the daemon closes the
// pipe or dies.
import { ExecServer } from "@codexkit/exec-server";

await using server = await ExecServer.start({ listen: "stdio", bwrap: null });
await server.done;
await server.close();
process.exit();
