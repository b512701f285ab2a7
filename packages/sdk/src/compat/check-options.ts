import { exitError } from "./errors.ts";
import type { ThreadOptions, TurnOptions } from "./options.ts";

const CHOICES = {
  sandbox: {
    value: "<SANDBOX_MODE>",
    choices: ["read-only", "workspace-write", "danger-full-access"],
  },
  "cyber-access-program": {
    value: "<PROGRAM>",
    choices: ["standard", "daybreak_blue", "daybreak_red"],
  },
} as const;

/** Throws for the values that `codex exec` rejects on its command line. The server checks all others. */
export function checkOptions({ sandboxMode }: ThreadOptions, { cyberAccessProgram }: TurnOptions): void {
  if (sandboxMode) checkChoice("sandbox", sandboxMode);
  if (cyberAccessProgram !== undefined) checkChoice("cyber-access-program", cyberAccessProgram);
}

function checkChoice(flag: keyof typeof CHOICES, given: string): void {
  const { value, choices } = CHOICES[flag];
  if (choices.some((choice) => choice === given)) return;
  const problem = `error: invalid value '${given}' for '--${flag} ${value}'`;
  const hint = `  [possible values: ${choices.join(", ")}]\n\nFor more information, try '--help'.`;
  throw exitError("code 2", `${problem}\n${hint}\n`);
}
