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
      "Manages the daemons that share one Postgres. Every node answers for all of them, so that any of their addresses will do.",
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
      "Lists the nodes with their sessions, running turns and leases. A node whose lease has ended is lost: others have taken over the sessions that can run elsewhere, and the rest is stranded until the node returns.",
    examples: [
      ["codexkit nodes", "all nodes of the fleet"],
      ["codexkit nodes list --json | jq -r 'select(.state == \"lost\").name'", "names of lost nodes"],
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
      "Asks nodes to take no more sessions, to hand over idle ones at once, and the others when their turns have ended. Waits until they have none, for as long as --timeout says; without it, returns at once. A drained node goes on serving requests until it is stopped. Start it again to use it again. Needs a token with the scope admin.",
    examples: [
      ["codexkit nodes drain build-2", "by its name"],
      ["codexkit nodes drain build-2 --timeout 10m && ssh build-2 reboot", "and wait until it is empty"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<node...>", "names or IDs"))
    .option("--timeout <duration>", "wait this long for the nodes to be empty, such as 10m", parseDuration)
    .action(async (nodes: readonly string[], options: DrainNodesOptions, self: CliCommand) => {
      const { drainNodes } = await import("../nodes/manage-nodes.ts");
      await drainNodes(nodes, options, openContext(self));
    });
  return command;
}

function remove(): CliCommand {
  const command = createCommand("remove", {
    summary: "Forget lost nodes",
    description:
      "Removes nodes that are lost for good. Sessions whose folder is on such a node fail, or, with --rehome, may run on any node, which must have the folder under the same path. Needs a token with the scope admin.",
    examples: [
      ["codexkit nodes remove build-2", "its sessions fail"],
      ["codexkit nodes remove --rehome build-2", "its folders were copied to the other nodes"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<node...>", "names or IDs"))
    .option("--rehome", "let any node run the sessions of the removed ones")
    .action(async (nodes: readonly string[], options: RemoveNodesOptions, self: CliCommand) => {
      const { removeNodes } = await import("../nodes/manage-nodes.ts");
      await removeNodes(nodes, options, openContext(self));
    });
  return command;
}
