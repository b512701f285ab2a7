import { Command } from "commander";

/** A command line as a person types it, and what it does. */
type Example = readonly [commandLine: string, comment: string];

interface CommandTexts {
  /** One line for the list of commands. Starts with a verb in the imperative, without a full stop. */
  readonly summary: string;
  /** Whole sentences for `--help` and `docs/cli.md`. Default: the summary. */
  readonly description?: string;
  readonly examples?: readonly Example[];
}

/** A command of commander that knows its examples, so that `--help` and `docs/cli.md` are made from one definition. */
export class CliCommand extends Command {
  examples: readonly Example[] = [];
  /** Whether `--help` is an option of the program that this command passes its arguments to. */
  passesHelpOn = false;

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Help in place of a missing subcommand is not an error either: it goes to stdout. */
  override help(): never {
    return super.help();
  }
}

/** A command that does something: has the options that every command has. */
export function createCommand(name: string, texts: CommandTexts): CliCommand {
  return addCommonOptions(createGroup(name, texts));
}

/** A command that only has subcommands. */
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

/** The options of every command; `openContext` reads them. */
export function addCommonOptions(command: CliCommand): CliCommand {
  command
    .option("--json", "print JSON instead of text")
    .option("--color", "use colours even if the output is not a terminal")
    .option("--no-color", "use no colours")
    .option("--debug", "print the stack of errors");
  return command;
}
