export type ComposerAction =
  | "send"
  | "queue"
  | "steer"
  | "interrupt"
  | "cancel"
  | "historyPrevious"
  | "historyNext";

export interface ComposerKey {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  /** Whether an input method is composing text, such as Chinese or Japanese. */
  readonly isComposing: boolean;
}

export interface ComposerKeyContext {
  readonly text: string;
  readonly caret: number;
  /** Whether a range of text is selected. */
  readonly hasSelection: boolean;
  /** Whether the text is from the history. */
  readonly isInHistory: boolean;
  /** When Escape was last pressed, in milliseconds. */
  readonly escapedAt: number | undefined;
  readonly now: number;
}

/** Two Escapes within this time interrupt the turn. */
export const DOUBLE_ESCAPE_MS = 1500;

/** The action of a key in the text field. Undefined if the field handles the key itself. */
export function composerAction(key: ComposerKey, context: ComposerKeyContext): ComposerAction | undefined {
  if (key.isComposing) return undefined;
  switch (key.key) {
    case "Enter":
      return enterAction(key);
    case "Escape":
      return isSecondEscape(context) ? "interrupt" : "cancel";
    case "ArrowUp":
    case "ArrowDown":
      return historyAction(key, context);
    default:
      return undefined;
  }
}

function enterAction({ shiftKey, altKey, ctrlKey, metaKey }: ComposerKey): ComposerAction | undefined {
  if (shiftKey) return undefined;
  if (altKey) return "steer";
  return ctrlKey || metaKey ? "queue" : "send";
}

function isSecondEscape({ escapedAt, now }: ComposerKeyContext): boolean {
  return escapedAt !== undefined && now - escapedAt <= DOUBLE_ESCAPE_MS;
}

/**
 * The history is navigated with Up on the first line and Down on the last one, so that the caret moves as usual inside longer
 * texts.
 */
function historyAction(
  { key, shiftKey, altKey, ctrlKey, metaKey }: ComposerKey,
  { text, caret, hasSelection, isInHistory }: ComposerKeyContext,
): ComposerAction | undefined {
  if (shiftKey || altKey || ctrlKey || metaKey || hasSelection) return undefined;
  if (key === "ArrowUp") return text.slice(0, caret).includes("\n") ? undefined : "historyPrevious";
  return isInHistory && !text.includes("\n", caret) ? "historyNext" : undefined;
}
