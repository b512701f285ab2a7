import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addThreadOptions, checkThreadOptions, type RunCommandOptions } from "../run/thread-options.ts";

export function runCommand(): CliCommand {
  const command = createCommand("run", {
    summary: "Run one task in the current folder",
    description: `Runs one task and streams what happens. On a terminal, it asks before the agent leaves its sandbox; elsewhere, what the policy does not allow is denied. With --daemon and without a terminal, the task waits until the approval is answered in the inbox, or until the --deadline. If stdout is not a terminal, it gets the last message only, and stderr the progress. Ctrl-C interrupts the turn, and a second Ctrl-C leaves.`,
    examples: [
      ['codexkit run "Make the failing test pass"', "run a task here"],
      [
        "git diff | codexkit run - > review.md",
        "read the prompt from stdin, write the last message to a file",
      ],
      [
        'codexkit run --json --output-schema schema.json "Which test fails?" | jq',
        "for scripts: events as JSON",
      ],
      [
        'codexkit run --allow "npm test" --budget 200k --deadline 10m "Fix the tests"',
        "without a person, with limits",
      ],
      ['codexkit run --resume --fork "Try it without a cache"', "continue a copy of an earlier thread"],
      ['codexkit run --daemon "Fix the build"', "in a session of the daemon, which survives this terminal"],
      ['codexkit run --demo "Hello"', "without credentials"],
    ],
  });
  addThreadOptions(command.argument("[prompt...]", "the task, or - for stdin"))
    .option("--output-schema <file>", "the JSON Schema of the last message")
    .option("-o, --output <file>", "write the last message to this file")
    .action(async (prompt: readonly string[], options: RunCommandOptions, self: CliCommand) => {
      const context = openContext(self);
      checkThreadOptions(options);
      if (options.daemon === undefined) {
        const { runTask } = await import("../run/run-task.ts");
        await runTask(context, prompt.join(" "), options);
      } else {
        const { runSession } = await import("../run/run-session.ts");
        await runSession(context, prompt.join(" "), options);
      }
    });
  return command;
}
