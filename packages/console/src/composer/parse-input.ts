import { findCommand, type SlashCommand } from "./slash-commands.ts";

/** The parsed text of the composer. */
export type ComposerInput =
  | { readonly type: "empty" }
  | { readonly type: "message"; readonly text: string }
  /** A shell command of the user, which runs outside the sandbox. */
  | { readonly type: "shell"; readonly command: string }
  | { readonly type: "command"; readonly command: SlashCommand; readonly argument: string }
  | { readonly type: "unknownCommand"; readonly name: string };

const COMMAND = /^\/([a-z-]+)(?:\s+([^]*))?$/;

/**
 * Parses the text of the composer. A text with a leading space is a message even if it looks like a command, and so is a path such
 * as `/usr/bin`.
 */
export function parseInput(text: string): ComposerInput {
  const trimmed = text.trim();
  if (trimmed === "") return { type: "empty" };
  if (text.startsWith("!")) {
    const command = text.slice(1).trim();
    return command === "" ? { type: "empty" } : { type: "shell", command };
  }
  const match = COMMAND.exec(text.trimEnd());
  const name = match?.[1];
  if (name === undefined) return { type: "message", text: trimmed };
  const command = findCommand(name);
  if (!command) return { type: "unknownCommand", name };
  return { type: "command", command, argument: match?.[2]?.trim() ?? "" };
}
