import type { TerminalSummary } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { chooseTerminal, terminalTitle } from "./choose-terminal.ts";

const terminal = (id: string, state: TerminalSummary["state"], createdAt: number): TerminalSummary =>
  ({ id, state, createdAt, command: ["/bin/bash", "-l"] }) as TerminalSummary;

const all = [terminal("a", "ended", 3), terminal("b", "running", 1), terminal("c", "running", 2)];

test("shows the remembered terminal, else the newest that is running", () => {
  expect(chooseTerminal(all, "a")).toBe("a");
  expect(chooseTerminal(all, "gone")).toBe("c");
  expect(chooseTerminal([terminal("a", "ended", 3)], undefined)).toBe("a");
  expect(chooseTerminal([], "a")).toBeUndefined();
});

test("numbers terminals if there are several", () => {
  expect(terminalTitle(terminal("b", "running", 1), all)).toBe("2 bash");
  expect(terminalTitle(terminal("b", "running", 1), [])).toBe("bash");
});
