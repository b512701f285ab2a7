import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addThreadOptions, checkThreadOptions, type RunCommandOptions } from "../run/thread-options.ts";

export function runCommand(): CliCommand {
  const command = createCommand("run", {
    summary: "Run one task in the current folder",
    description: `Runs one task and streams its progress. On a terminal, asks before the agent leaves its sandbox; without one, denies everything that the policy does not allow. With --daemon and without a terminal, the task waits until the approval is answered in the inbox, or until the --deadline, even if the request is parked because the daemon is restarted. If stdout is not a terminal, only the last message goes to stdout, and the progress goes to stderr. Ctrl-C interrupts the turn; a second Ctrl-C exits.`,
    examples: [
      ['codexkit run "Make the failing test pass"', "run a task in the current folder"],
      [
        "git diff | codexkit run - > review.md",
        "read the prompt from stdin, and write the last message to a file",
      ],
      [
        'codexkit run --json --output-schema schema.json "Which test fails?" | jq',
        "print events as JSON, for scripts",
      ],
      [
        'codexkit run --allow "npm test" --budget 200k --deadline 10m "Fix the tests"',
        "run unattended, with limits",
      ],
      ['codexkit run --resume --fork "Try it without a cache"', "continue a copy of an earlier thread"],
      [
        'codexkit run --daemon "Fix the build"',
        "use a session of the daemon, which continues without this terminal",
      ],
      ['codexkit run --demo "Hello"', "run without credentials"],
    ],
  });
  addThreadOptions(command.argument("[prompt...]", "the task, or - for stdin"))
    .option("--output-schema <file>", "JSON Schema of the last message")
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
