const [command, ...args] = process.argv.slice(2);

// Codex needs longer to start than anything else does, so it starts first and the command line is loaded meanwhile.
if (command === "run") {
  const { startEarlyCodex } = await import("./codex/early-codex.ts");
  startEarlyCodex(args);
}
const { runCli } = await import("./run-cli.ts");
await runCli();
