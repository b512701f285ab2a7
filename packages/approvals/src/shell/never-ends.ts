import type { Statement } from "unbash";

/** Whether the condition of a loop is one that always holds, or only waits. */
export function neverEnds(condition: readonly Statement[]): boolean {
  return /^\s*(?::|true|false|sleep [\d.]+|\[\s*1\s*\]|\(\(\s*1\s*\)\))\s*$/.test(wordsOf(condition));
}

function wordsOf(statements: readonly Statement[]): string {
  const command = statements[0]?.command;
  if (statements.length !== 1 || command?.type !== "Command")
    return command?.type === "ArithmeticCommand" ? `((${command.body}))` : "";
  return [command.name?.value ?? "", ...command.args.map(({ text }) => text)].join(" ");
}
