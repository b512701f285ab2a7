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
  parseNodeUrlOption,
} from "../options/parse-values.ts";

export function serveCommand(): CliCommand {
  const command = createCommand("serve", {
    summary: "Serve sessions over HTTP",
    description:
      "Starts the daemon: Codex sessions over HTTP, with a journal, an inbox for approvals, and tokens. Prints its URL and a link that logs one browser in to the web console, and writes the URL to ~/.codexkit/daemons, where the other commands find it. On Ctrl-C or SIGTERM, waits for running turns and then stops; a second signal interrupts the turns. Logs JSON lines to stderr.",
    examples: [
      ["codexkit serve", "serve the current folder on http://127.0.0.1:4100"],
      ["codexkit serve --demo", "use a scripted model, without credentials"],
      ["codexkit serve --root ~/projects --listen 127.0.0.1:0", "serve another folder on a free port"],
      [
        "codexkit serve --store postgres://user@db.example/codex --advertise http://10.0.0.7:4100 --listen 10.0.0.7:4100",
        "one node of a fleet",
      ],
    ],
  });
  command
    .option(
      "--store <folder|url>",
      "folder of the store, or a postgres:// URL (default: CODEXKIT_STORE, then ~/.codexkit/daemon; with --demo always ~/.codexkit/demo-daemon)",
    )
    .option("--state-folder <folder>", "folder for Codex's home and the token if the store is Postgres")
    .option("--listen <host:port>", "address to listen on; port 0 chooses a free port", parseListen, {
      host: "127.0.0.1",
      port: 4100,
    })
    .option("--token-file <file>", "token file for commands on this machine; created if missing")
    .option(
      "--root <folder>",
      "folder that sessions may work in; can be repeated (default: the current folder, unless there is a shared root)",
      collectValues,
    )
    .option("--drain <duration>", "how long to wait for running turns when stopping", parseDuration, 30_000)
    .option("--demo", "use a scripted model, which needs no credentials and sends nothing to the network")
    .option("--replay <file>", "serve an exported session read-only, without codex and without a store")
    .option("--no-console", "serve no web console")
    .option("--no-auth", "require no token; only on a loopback address")
    .option(
      "--allow-host <name>",
      "additional host name that requests may use; can be repeated",
      collectValues,
    )
    .option(
      "--allow-origin <origin>",
      "origin of web pages that may call the API; can be repeated",
      collectValues,
    )
    .option(
      "--node-name <name>",
      "name of this node among the daemons of a store (default: local, or the host name)",
    )
    .option(
      "--label <label>",
      "label of this node, for sessions that need it; can be repeated",
      collectValues,
    )
    .option(
      "--advertise <url>",
      "URL at which other nodes reach this one, for terminals and files of its sessions (default: none)",
      parseNodeUrlOption,
    )
    .option("--capacity <count>", "maximum number of sessions that this node owns", parseCount, 200)
    .option(
      "--shared-root <label=folder>",
      "folder that several nodes share under the same path; gives this node the label, and any node with the label can run sessions in the folder; can be repeated",
      collectSharedRoots,
    )
    .addOption(
      new Option(
        "--on-interrupted <reaction>",
        "what new sessions do after their node or codex crashes during a turn",
      )
        .choices(["continue", "ask", "stop"])
        .default("stop"),
    )
    .addOption(
      new Option("--log-level <level>", "lowest level to log")
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
