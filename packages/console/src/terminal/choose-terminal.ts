import type { TerminalSummary } from "@codexkit/daemon/client";

/**
 * Chooses the terminal to show: the one from before the reload, else the newest running one, else the newest one.
 */
export function chooseTerminal(
  terminals: readonly TerminalSummary[],
  remembered: string | undefined,
): string | undefined {
  const known = terminals.find(({ id }) => id === remembered);
  if (known) return known.id;
  const newestFirst = terminals.toSorted((a, b) => b.createdAt - a.createdAt);
  return (newestFirst.find(({ state }) => state === "running") ?? newestFirst[0])?.id;
}

/** The name of a tab: the program without its folder, with a number if there are several. */
export function terminalTitle(terminal: TerminalSummary, all: readonly TerminalSummary[]): string {
  const program = (terminal.command[0] ?? "terminal").split("/").at(-1) ?? "terminal";
  const number = all.findIndex(({ id }) => id === terminal.id) + 1;
  return all.length > 1 ? `${number} ${program}` : program;
}
