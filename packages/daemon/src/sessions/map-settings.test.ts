import { describe, expect, test } from "vitest";
import type { SessionSettings } from "../api/settings.ts";
import { collaborationModeOf } from "./map-settings.ts";

const settings = (changes: Partial<SessionSettings>): SessionSettings => ({
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
  ...changes,
});

describe("agent modes", () => {
  test("plan and chat are sent with every turn, build only to leave another mode", () => {
    expect(collaborationModeOf(settings({}), "build", "m")).toBeUndefined();
    expect(collaborationModeOf(settings({}), "plan", "m")).toMatchObject({ mode: "default" });
    expect(collaborationModeOf(settings({}), undefined, "m")).toMatchObject({ mode: "default" });
    expect(collaborationModeOf(settings({ agentMode: "plan", effort: "low" }), "plan", "m")).toEqual({
      mode: "plan",
      settings: { model: "m", reasoning_effort: "low", developer_instructions: null },
    });
    expect(collaborationModeOf(settings({ agentMode: "chat", model: "own" }), "chat", "m")).toMatchObject({
      mode: "default",
      settings: { model: "own", developer_instructions: expect.stringContaining("chat mode") as string },
    });
  });
});
