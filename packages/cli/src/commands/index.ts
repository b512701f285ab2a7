import type { CliCommand } from "../cli-command.ts";
import { accountCommand, loginCommand, logoutCommand, modelsCommand } from "./account.ts";
import { attachCommand } from "./attach.ts";
import { chatCommand } from "./chat.ts";
import { completionCommand } from "./completion.ts";
import { consoleCommand } from "./console.ts";
import { doctorCommand } from "./doctor.ts";
import { execServerCommand } from "./exec-server.ts";
import { inboxCommand } from "./inbox.ts";
import { nodesCommand } from "./nodes.ts";
import { policyCommand } from "./policy.ts";
import { relayCommand } from "./relay.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { sessionsCommand } from "./sessions.ts";
import { threadsCommand } from "./threads.ts";
import { tokenCommand } from "./token.ts";

/**
 * Every command, in the order of the help. Files in this folder contain definitions only. They import nothing
 * but commander and value parsers; each command imports its implementation when it runs.
 */
export const COMMANDS: readonly (() => CliCommand)[] = [
  runCommand,
  chatCommand,
  serveCommand,
  consoleCommand,
  sessionsCommand,
  attachCommand,
  inboxCommand,
  threadsCommand,
  modelsCommand,
  loginCommand,
  logoutCommand,
  accountCommand,
  tokenCommand,
  nodesCommand,
  policyCommand,
  execServerCommand,
  relayCommand,
  doctorCommand,
  completionCommand,
];
