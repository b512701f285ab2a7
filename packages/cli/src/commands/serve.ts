import { Option } from "commander";
import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import type { ServeOptions } from "../daemon/serve-options.ts";
import {
  collectSharedRoots,
  collectValues,
  parseCount,
  parseDuration,
  parseListen,
} from "../options/parse-values.ts";

export function serveCommand(): CliCommand {
  const command = createCommand("serve", {
    summary: "Serve sessions over HTTP",
    description:
      "Starts the daemon: Codex sessions over HTTP, with a journal, an inbox of approvals, and tokens. Prints its address, and a link that logs one browser in to the web console, and writes the address to ~/.codexkit/daemons, where the other commands find it. Ctrl-C or SIGTERM waits for running turns and then ends everything; a second one interrupts them. Logs are JSON lines on stderr.",
    examples: [
      ["codexkit serve", "sessions in this folder, on http://127.0.0.1:4100"],
      ["codexkit serve --demo", "without credentials, on a scripted model"],
      ["codexkit serve --root ~/projects --listen 127.0.0.1:0", "another folder, and a free port"],
      [
        "codexkit serve --store postgres://user@db.example/codex --advertise http://10.0.0.7:4100 --listen 10.0.0.7:4100",
        "one node of a fleet",
      ],
    ],
  });
  command
    .option(
      "--store <folder|url>",
      "folder of the store, or a postgres:// URL (default: CODEXKIT_STORE, then ~/.codexkit/daemon, with --demo ~/.codexkit/demo-daemon)",
    )
    .option("--state-folder <folder>", "folder of Codex's home and the token, if the store is Postgres")
    .option("--listen <host:port>", "address; port 0 chooses a free one", parseListen, {
      host: "127.0.0.1",
      port: 4100,
    })
    .option("--token-file <file>", "file of the token for this machine, created if it does not exist")
    .option(
      "--root <folder>",
      "folder that sessions may work in; can be repeated (default: this folder, unless there is a shared root)",
      collectValues,
    )
    .option("--drain <duration>", "how long to wait for running turns at the end", parseDuration, 30_000)
    .option("--demo", "use a scripted model: no credentials are needed, and nothing leaves this machine")
    .option("--replay <file>", "serve an exported session read-only, without a codex and without a store")
    .option("--no-console", "serve no web console")
    .option("--no-auth", "need no token; only possible on a loopback address")
    .option("--allow-host <name>", "host name that requests may use; can be repeated", collectValues)
    .option("--allow-origin <origin>", "web pages that may call the API; can be repeated", collectValues)
    .option(
      "--node-name <name>",
      "name of this daemon among those of a store (default: local, or the host name)",
    )
    .option(
      "--label <label>",
      "label of this node, for sessions that need it; can be repeated",
      collectValues,
    )
    .option(
      "--advertise <url>",
      "where other nodes reach this one, for terminals and files of its sessions (default: they don't)",
    )
    .option("--capacity <count>", "sessions that this node owns at most", parseCount, 200)
    .option(
      "--shared-root <label=folder>",
      "root that several nodes have under this path, which gives this node the label; any node with it can run sessions in the folder; can be repeated",
      collectSharedRoots,
    )
    .addOption(
      new Option(
        "--on-interrupted <reaction>",
        "what new sessions do about a turn that was cut off with its node or codex",
      )
        .choices(["continue", "ask", "stop"])
        .default("stop"),
    )
    .addOption(
      new Option("--log-level <level>", "least important messages to log")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("warn"),
    )
    .action(async (options: ServeOptions, self: CliCommand) => {
      const { serve } = await import("../daemon/serve.ts");
      await serve(options, openContext(self));
    });
  for (const option of command.options) {
    if (option.long === "--listen") option.defaultValueDescription = "127.0.0.1:4100";
    if (option.long === "--drain") option.defaultValueDescription = "30s";
  }
  return command;
}
