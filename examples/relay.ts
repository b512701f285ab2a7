// An executor behind a registry and a rendezvous, and a program that runs a command on it. Here, all run on one machine.
import { connectHarness, runExecutor } from "@codexkit/relay";
import { startRegistry } from "@codexkit/relay/registry";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

await using cleanup = new AsyncDisposableStack();
const store = await mkdtemp(join(tmpdir(), "codexkit-example-"));
cleanup.defer(() => rm(store, { recursive: true, force: true }));
const registry = cleanup.use(await startRegistry({ store, port: 0 }));
const execute = await registry.tokens.create({ name: "executor", scopes: ["execute"], environmentId: "box" });
const connect = await registry.tokens.create({ name: "harness", scopes: ["connect"], environmentId: "box" });

const environment = { registryUrl: registry.url, environmentId: "box" };
const executor = cleanup.use(
  await runExecutor({
    ...environment,
    credential: execute.token,
    onStatus: ({ state }) => console.log(`executor: ${state}`),
  }),
);
const client = cleanup.use(
  await connectHarness({
    ...environment,
    credential: connect.token,
    // Obtained directly from the executor, so that the registry need not be trusted for it.
    ...(executor.publicKey ? { executorKey: executor.publicKey } : {}),
  }),
);
const command = await client.start({ argv: ["/bin/echo", "hello through the relay"], cwd: "/" });
const { exitCode, stdout } = await command.collect();
process.stdout.write(stdout);
console.log(`exit code ${exitCode}`);
