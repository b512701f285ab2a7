const [command, ...args] = process.argv.slice(2);

// Codex needs longer to start than anything else does, so it starts first. The command line is loaded while codex answers its
// first request.
if (command === "run") {
  const { startEarlyCodex } = await import("./codex/early-codex.ts");
  await startEarlyCodex(args);
}
const { runCli } = await import("./run-cli.ts");
await runCli();
