import { describe, expect, it } from "vitest";
import { WarningLog } from "./warning-log.ts";

const config = (summary: string, details: string | null = null): { method: string; params: object } => ({
  method: "configWarning",
  params: { summary, details },
});

const warning = (threadId: string | null, message: string): { method: string; params: object } => ({
  method: "warning",
  params: { threadId, message },
});

describe("the log of warnings", () => {
  it("keeps each message about the configuration once, in the order of arrival", () => {
    const log = new WarningLog();
    const deprecation = { method: "deprecationNotice", params: { summary: "b", details: "why" } };
    for (const message of [config("a"), deprecation, config("a"), warning(null, "c")]) log.receive(message);
    expect(log.messages).toEqual(["a", "b (why)", "c"]);
  });

  it("omits warnings that only the app-server emits", () => {
    const log = new WarningLog();
    log.receive(config("Codex could not find bubblewrap on PATH. Install it."));
    log.receive(config("Project-local config, hooks, and exec policies are disabled in …"));
    log.receive(config("Invalid configuration; using defaults.", "line 1"));
    expect(log.messages).toEqual([]);
  });

  it("leaves the warnings of a thread to its events", () => {
    const log = new WarningLog();
    log.receive(warning("one", "early"));
    expect(log.messages).toEqual([]);
  });

  it("has a limited size", () => {
    const log = new WarningLog();
    for (let index = 0; index < 2000; index += 1) log.receive(config(`message ${index}`));
    expect(log.messages).toHaveLength(64);
  });

  it("reports invalid rules like `codex exec`", () => {
    const log = new WarningLog();
    log.receive({
      method: "configWarning",
      params: {
        summary: "Error parsing rules; custom rules not applied.",
        details: "failed to parse rules file /r: starlark error: no\n--> /r:1:1",
        path: "/r",
        range: { start: { line: 2, column: 1 }, end: { line: 2, column: 1 } },
      },
    });
    expect(log.rulesError).toBe("/r:2: starlark error: no (problem is on or around line 2)");
    expect(log.messages).toEqual([]);
  });
});
