/** The file or command that is being typed at the caret. */
export type CompletionTarget =
  | { readonly type: "file"; readonly start: number; readonly end: number; readonly query: string }
  | { readonly type: "command"; readonly start: number; readonly end: number; readonly query: string };

export interface TextState {
  readonly text: string;
  /** Position of the caret. */
  readonly caret: number;
}

const MAX_QUERY = 256;

/** A `@file` before the caret, or a `/command` at the beginning of the text. */
export function findCompletion({ text, caret }: TextState): CompletionTarget | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([a-z-]*)$/.exec(before);
  if (command) return { type: "command", start: 0, end: caret, query: command[1] ?? "" };
  // The sign must begin a word, so that name@example.com does not match.
  const file = /(?:^|[\s([{"'`])@([^\s@]*)$/.exec(before);
  const query = file?.[1];
  if (query === undefined || query.length > MAX_QUERY) return undefined;
  return { type: "file", start: caret - query.length - 1, end: caret, query };
}

/** Replaces the target, and puts the caret after it, separated by one space. */
export function applyCompletion(text: string, target: CompletionTarget, value: string): TextState {
  const before = text.slice(0, target.start);
  const after = text.slice(target.end).replace(/^ /, "");
  const inserted = `${target.type === "command" ? "/" : "@"}${value} `;
  return { text: before + inserted + after, caret: before.length + inserted.length };
}
