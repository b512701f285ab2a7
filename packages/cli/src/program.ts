import { addCommonOptions, addHelpExamples, CliCommand } from "./cli-command.ts";
import { COMMANDS } from "./commands/index.ts";
import { revealText } from "./terminal/sanitize.ts";
import { readVersion } from "./version.ts";

/** The command line, with all commands by default. Only definitions: an implementation is loaded when its command runs. */
export function createProgram(commands: readonly (() => CliCommand)[] = COMMANDS): CliCommand {
  const program = addCommonOptions(new CliCommand("codexkit"))
    .description("Run Codex tasks, chat, serve sessions and answer approvals from a terminal.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    // Options after a command belong to it, so that `exec-server` can pass them on.
    .enablePositionalOptions()
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError("Run the command with --help to see its options.")
    // Commander repeats arguments, which may come from another program.
    .configureOutput({ outputError: (text, write) => write(revealText(text)) })
    .exitOverride();
  for (const define of commands) program.addCommand(inherit(define(), program));
  addGroupExamples(program);
  return program;
}

/** `addCommand` does not copy settings, while `command` would. */
function inherit(command: CliCommand, parent: CliCommand): CliCommand {
  command.copyInheritedSettings(parent);
  if (command.passesHelpOn) command.helpOption(false);
  else command.helpOption("-h, --help", "print help");
  for (const child of command.commands) inherit(child as CliCommand, command);
  addGroupExamples(command);
  return command;
}

/** Examples in the help of a command with subcommands. */
const GROUP_EXAMPLES = 5;

/** A command with subcommands has the first example of each. */
function addGroupExamples(command: CliCommand): void {
  const examples = command.commands.flatMap((child) => (child as CliCommand).examples.slice(0, 1));
  addHelpExamples(command, examples.slice(0, GROUP_EXAMPLES));
}
