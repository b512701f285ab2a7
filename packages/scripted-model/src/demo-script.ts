import { run } from "./calls.ts";
import { commandResult } from "./command-result.ts";
import { usage } from "./flow.ts";
import type { Reply } from "./part.ts";
import { say, think } from "./say.ts";
import type { ScriptRequest } from "./script-request.ts";

const command = 'echo Hello from a real shell in $(basename "$PWD")';

/** Slow enough to be seen as a stream, quick enough not to bore. */
const typing = { chunkSize: 6, everyMs: 12 } as const;

/**
 * A short, harmless turn for people without a key: it thinks, says what it will do, runs one command for real and
 * tells what came of it. Plays to any text, on both kinds of model, any number of turns.
 */
export function demoScript(request: ScriptRequest): Reply {
  const [ran] = request.newOutputs;
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
  const { output, exitCode } = commandResult(ran.text);
  const told =
    exitCode === 0
      ? `The command really ran and printed:\n\n    ${output.trim().split("\n").join("\n    ")}`
      : `The command did not run to its end: ${output.trim() || "it gave no output"}`;
  return [
    say(`${told}\n\nI am a script on a local endpoint; everything else here is the real Codex.`, {
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
