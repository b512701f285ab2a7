import { expect, test } from "vitest";
import { composerAction, type ComposerKeyContext, DOUBLE_ESCAPE_MS } from "./composer-keys.ts";

const modifiers = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, isComposing: false };
const context: ComposerKeyContext = {
  text: "",
  caret: 0,
  hasSelection: false,
  isInHistory: false,
  escapedAt: undefined,
  now: 10_000,
};

test.each([
  [{ key: "Enter" }, "send"],
  [{ key: "Enter", shiftKey: true }, undefined],
  [{ key: "Enter", altKey: true }, "steer"],
  [{ key: "Enter", ctrlKey: true }, "queue"],
  [{ key: "Enter", metaKey: true }, "queue"],
  [{ key: "Enter", isComposing: true }, undefined],
  [{ key: "a" }, undefined],
  [{ key: "Escape" }, "cancel"],
])("maps %j to %s", (key, action) => {
  expect(composerAction({ ...modifiers, ...key }, context)).toBe(action);
});

test("interrupts on the second Escape only if it follows soon", () => {
  const escape = { ...modifiers, key: "Escape" };
  expect(composerAction(escape, { ...context, escapedAt: 10_000 - DOUBLE_ESCAPE_MS })).toBe("interrupt");
  expect(composerAction(escape, { ...context, escapedAt: 10_000 - DOUBLE_ESCAPE_MS - 1 })).toBe("cancel");
});

test("navigates the history only from the first and the last line", () => {
  const up = { ...modifiers, key: "ArrowUp" };
  const down = { ...modifiers, key: "ArrowDown" };
  const text = "one\ntwo";
  expect(composerAction(up, { ...context, text, caret: 2 })).toBe("historyPrevious");
  expect(composerAction(up, { ...context, text, caret: 5 })).toBeUndefined();
  expect(composerAction(down, { ...context, text, caret: 5 })).toBeUndefined();
  expect(composerAction(down, { ...context, text, caret: 5, isInHistory: true })).toBe("historyNext");
  expect(composerAction(down, { ...context, text, caret: 2, isInHistory: true })).toBeUndefined();
});
