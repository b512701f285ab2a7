import { Command } from "commander";

/** A command line as a user types it, and what it does. */
type Example = readonly [commandLine: string, comment: string];

interface CommandTexts {
  /** One line for the list of commands: a verb in the imperative, without a full stop. */
  readonly summary: string;
  /** Full sentences for `--help` and `docs/cli.md`. Default: the summary. */
  readonly description?: string;
  readonly examples?: readonly Example[];
}

/**
 * A commander command that stores its examples, so that `--help` and `docs/cli.md` come from one definition.
 */
export class CliCommand extends Command {
  examples: readonly Example[] = [];
  /** Whether `--help` is passed to the program that this command starts. */
  passesHelpOn = false;

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Help that is printed because a subcommand is missing is not an error either, so it goes to stdout. */
  override help(): never {
    return super.help();
  }
}

/** Creates a command that performs an action. It has the common options. */
export function createCommand(name: string, texts: CommandTexts): CliCommand {
  return addCommonOptions(createGroup(name, texts));
}

/** Creates a command that only groups subcommands. */
export function createGroup(name: string, { summary, description, examples = [] }: CommandTexts): CliCommand {
  const command = new CliCommand(name);
  command.examples = examples;
  command.summary(summary).description(description ?? `${summary}.`);
  addHelpExamples(command, examples);
  return command;
}

/** Adds examples to `--help`. */
export function addHelpExamples(command: CliCommand, examples: readonly Example[]): void {
  if (examples.length === 0) return;
  const lines = examples.flatMap(([commandLine, comment]) => [`  # ${comment}`, `  ${commandLine}`]);
  command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
}

/** Adds the common options, which `openContext` reads. */
export function addCommonOptions(command: CliCommand): CliCommand {
  command
    .option("--json", "print JSON instead of text")
    .option("--color", "use colours even if the output is not a terminal")
    .option("--no-color", "use no colours")
    .option("--debug", "print stack traces of errors");
  return command;
}
