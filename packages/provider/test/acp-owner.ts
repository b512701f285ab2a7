// A program that owns a stubborn ACP agent, prints its PID, and waits to be killed.
import { AcpProvider } from "../src/acp/index.ts";
import { tinyAgent } from "./tiny-agent.ts";

const provider = await AcpProvider.launch(tinyAgent("--stubborn"));
process.stdout.write(`${provider.pid}\n`);
setInterval(() => {}, 60_000);
