const [command, ...args] = process.argv.slice(2);

// Starting codex takes longer than everything else, so it comes first. The command line is loaded while codex
// answers its first request.
if (command === "run") {
  const { startEarlyCodex } = await import("./codex/early-codex.ts");
  await startEarlyCodex(args);
}
const { runCli } = await import("./run-cli.ts");
await runCli();
