import { addCommonOptions, addHelpExamples, CliCommand } from "./cli-command.ts";
import { COMMANDS } from "./commands/index.ts";
import { revealText } from "./terminal/sanitize.ts";
import { readVersion } from "./version.ts";

/**
 * Creates the command line, by default with all commands. Loads definitions only: a command loads its
 * implementation when it runs.
 */
export function createProgram(commands: readonly (() => CliCommand)[] = COMMANDS): CliCommand {
  const program = addCommonOptions(new CliCommand("codexkit"))
    .description("Run Codex tasks, chat, serve sessions and answer approvals from a terminal.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    // Options after a command belong to the command, so that `exec-server` can pass them on.
    .enablePositionalOptions()
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError("Run the command with --help to see its options.")
    // Commander's messages quote arguments, which may contain control characters from another program.
    .configureOutput({ outputError: (text, write) => write(revealText(text)) })
    .exitOverride();
  for (const define of commands) program.addCommand(inherit(define(), program));
  addGroupExamples(program);
  return program;
}

/** Copies settings, because `addCommand` does not do so, unlike `command`. */
function inherit(command: CliCommand, parent: CliCommand): CliCommand {
  command.copyInheritedSettings(parent);
  if (command.passesHelpOn) command.helpOption(false);
  else command.helpOption("-h, --help", "print help");
  for (const child of command.commands) inherit(child as CliCommand, command);
  addGroupExamples(command);
  return command;
}

/** Number of examples in the help of a command with subcommands. */
const GROUP_EXAMPLES = 5;

/** Adds the first example of each subcommand to the help. */
function addGroupExamples(command: CliCommand): void {
  const examples = command.commands.flatMap((child) => (child as CliCommand).examples.slice(0, 1));
  addHelpExamples(command, examples.slice(0, GROUP_EXAMPLES));
}
