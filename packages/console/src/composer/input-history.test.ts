import { expect, test } from "vitest";
import { InputHistory } from "./input-history.ts";

test("navigates to the oldest text and back to the draft", () => {
  const history = new InputHistory(["one", "two"]);
  expect(history.previous("draft")).toBe("two");
  expect(history.previous("two")).toBe("one");
  expect(history.previous("one")).toBeUndefined();
  expect(history.next()).toBe("two");
  expect(history.next()).toBe("draft");
  expect(history.next()).toBeUndefined();
});

test("adds a text once and keeps the newest hundred", () => {
  const history = new InputHistory();
  for (let index = 0; index < 120; index += 1) history.add(String(index));
  history.add("119");
  expect(history.entries).toHaveLength(100);
  expect(history.entries[0]).toBe("20");
});
