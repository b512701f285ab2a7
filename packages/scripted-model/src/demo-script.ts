import { run } from "./calls.ts";
import { parseCommandResult } from "./command-result.ts";
import { usage } from "./flow.ts";
import type { Reply } from "./part.ts";
import { say, think } from "./say.ts";
import type { ScriptRequest } from "./script-request.ts";

const command = 'echo Hello from a real shell in $(basename "$PWD")';

/** Writes outside the session's folder, so that Codex has to ask. */
const askedCommand = 'date > "${TMPDIR:-/tmp}/codexkit-demo.txt"';

/** Slow enough to be visible as a stream. */
const typing = { chunkSize: 6, everyMs: 12 } as const;

/**
 * A short, harmless turn for users without an API key: it emits reasoning and a message, runs a real command and reports its
 * output. Works for any input, both kinds of model and any number of turns. A message with the word "approval" makes it ask for one.
 */
export function demoScript(request: ScriptRequest): Reply {
  const [ran] = request.newOutputs;
  if (ran === undefined && /\bapprovals?\b/i.test(request.lastUserText)) {
    return [
      say("This command writes a file outside the folder, so a person has to allow it.", {
        phase: "commentary",
        ...typing,
      }),
      run(askedCommand, {
        escalate: "It shows what an approval looks like, and writes the date to a temporary file.",
      }),
      usage({ input: 1_200, cached: 800, output: 60 }),
    ];
  }
  if (ran === undefined) {
    return [
      think("**Planning the demo**\n\nOne harmless command will show that the shell is real.", typing),
      say(`You said: ${quote(request.lastUserText)} Let me run one command.`, {
        phase: "commentary",
        ...typing,
      }),
      run(command),
      usage({ input: 1_200, cached: 800, output: 60, reasoning: 20 }),
    ];
  }
  const { output, exitCode } = parseCommandResult(ran.text);
  const summary =
    exitCode === 0
      ? `The command ran and printed:\n\n    ${output.trim().split("\n").join("\n    ")}`
      : `The command did not finish: ${output.trim() || "it printed nothing"}`;
  return [
    say(`${summary}\n\nI am a script on a local endpoint; everything else here is the real Codex.`, {
      phase: "final_answer",
      ...typing,
    }),
    usage({ input: 1_300, cached: 1_200, output: 70 }),
  ];
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return `“${line.length > 60 ? `${line.slice(0, 59)}…` : line}”.`;
}
