import { Argument } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import type { DrainNodesOptions, RemoveNodesOptions } from "../nodes/manage-nodes.ts";
import { parseDuration } from "../options/parse-values.ts";

export function nodesCommand(): CliCommand {
  const group = createGroup("nodes", {
    summary: "List, drain and remove the nodes of a fleet",
    description:
      "Manages the daemons that share a Postgres store. Every node can answer for all others, so any address works.",
  });
  group.addCommand(list(), { isDefault: true });
  group.addCommand(drain());
  group.addCommand(remove());
  return group;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List the nodes",
    description:
      "Lists the nodes with their sessions, running turns and leases. A node whose lease has expired is lost: other nodes have taken over the sessions that can run elsewhere, and the rest waits until the node returns: sessions with work are stranded, and the others stay idle. A node that was drained is listed as draining until it is restarted or stopped.",
    examples: [
      ["codexkit nodes", "list all nodes of the fleet"],
      [
        "codexkit nodes list --json | jq -r 'select(.state == \"lost\").name'",
        "print the names of lost nodes",
      ],
    ],
  });
  addDaemonOptions(command).action(async (options: DaemonCommandOptions, self: CliCommand) => {
    const { listNodes } = await import("../nodes/manage-nodes.ts");
    await listNodes(options, openContext(self));
  });
  return command;
}

function drain(): CliCommand {
  const command = createCommand("drain", {
    summary: "Move all sessions away from nodes",
    description:
      "Asks nodes to accept no more sessions, to hand over idle ones immediately, and the others when their turns end. With --timeout, waits until the nodes are empty. Sessions in local folders can't move. The command counts them; they stay idle, and messages to them wait until the node is started again. A drained node keeps its lease, accepts no commands for its own folders and keeps serving other requests until it is stopped; restart it to use it again. Requires a token with the scope admin.",
    examples: [
      ["codexkit nodes drain build-2", "drain a node by name"],
      [
        "codexkit nodes drain build-2 --timeout 10m && ssh build-2 reboot",
        "drain, and wait until the node is empty",
      ],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<node...>", "names or IDs"))
    .option(
      "--timeout <duration>",
      "wait until the nodes are empty, up to this long, such as 10m",
      parseDuration,
    )
    .action(async (nodes: readonly string[], options: DrainNodesOptions, self: CliCommand) => {
      const { drainNodes } = await import("../nodes/manage-nodes.ts");
      await drainNodes(nodes, options, openContext(self));
    });
  return command;
}

function remove(): CliCommand {
  const command = createCommand("remove", {
    summary: "Remove lost nodes",
    description:
      "Removes nodes that are lost for good. A node whose process is running can't be removed, even if it is drained. Sessions whose folder is on a removed node fail, including idle ones; the command asks first on a terminal, and requires --yes elsewhere. A failed session continues with its next message if the node comes back with the same name. With --rehome, any node that has the folder under the same path can run the sessions instead. Requires a token with the scope admin.",
    examples: [
      ["codexkit nodes remove build-2", "remove a node, after confirmation if sessions would fail"],
      ["codexkit nodes remove --yes build-2", "remove a node and fail its sessions without confirmation"],
      [
        "codexkit nodes remove --rehome build-2",
        "remove a node whose folders were copied to the other nodes",
      ],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<node...>", "names or IDs"))
    .option("--rehome", "let any node run the sessions of the removed nodes")
    .option("-y, --yes", "fail the sessions in the folders of the nodes without confirmation")
    .action(async (nodes: readonly string[], options: RemoveNodesOptions, self: CliCommand) => {
      const { removeNodes } = await import("../nodes/manage-nodes.ts");
      await removeNodes(nodes, options, openContext(self));
    });
  return command;
}
