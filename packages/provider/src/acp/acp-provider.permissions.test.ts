import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runSession, textOf } from "../../test/acp-session.ts";
import { launchTiny } from "../../test/tiny-agent.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { AcpProvider } from "./acp-provider.ts";

const cwd = process.cwd();

/** Most tests share one agent: it serves any number of sessions. */
let shared: AcpProvider;
beforeAll(async () => {
  shared = await launchTiny({ name: "tiny", supportsReasoningEffort: true });
});
afterAll(() => shared.shutdown());

describe("a permission request of an ACP agent", () => {
  it.each<[string, string, AgentSpec["permissionConfig"], string]>([
    ["is allowed once if nothing denies it", "execute make test", undefined, "yes"],
    ["is denied if it is unsafe", "execute sudo rm -rf /", undefined, "no"],
    ["is denied by a pattern", "execute git push", { disallowPatterns: ["^git push"] }, "no"],
    ["is allowed by a pattern", "execute npm test", { allowPatterns: ["^npm"] }, "yes"],
    ["is denied if only others are allowed", "execute make", { allowPatterns: ["^npm"] }, "no"],
    ["is denied by default", "execute make", { defaultDecision: "deny" }, "no"],
    ["is denied if a person would have to be asked", "execute make", { defaultDecision: "prompt" }, "no"],
    ["may be an edit in the folder", `edit ${cwd}/README.md`, undefined, "yes"],
    ["may not be an edit outside of it", "edit /etc/passwd", undefined, "no"],
    ["may not be an edit of git's own files", `edit ${cwd}/.git/config`, undefined, "no"],
  ])("%s", async (_, question, permissionConfig, answer) => {
    const events = await runSession(shared, { prompt: `ask ${question}`, permissionConfig });
    expect(textOf(events)).toBe(answer);
    const reported = events.filter(
      (event) =>
        (event.kind === "tool_use" || event.kind === "tool_result") && event.toolName.startsWith("approval:"),
    );
    expect(reported).toMatchObject([
      { toolCategory: "approval" },
      { isError: answer === "no", content: expect.stringMatching(answer === "no" ? /^denied/ : /^allowed/) },
    ]);
    const denials = events.filter((event) => event.kind === "system" && event.subtype === "approval_denied");
    expect(denials).toHaveLength(answer === "no" ? 1 : 0);
  });

  it("is reported as a tool call if it was allowed, and not if it was denied", async () => {
    const calls = async (permissionConfig: AgentSpec["permissionConfig"]): Promise<unknown[]> => {
      const events = await runSession(shared, { prompt: "ask execute make test", permissionConfig });
      return events.flatMap((event) => ("toolUseId" in event && event.toolUseId === "c" ? [event] : []));
    };
    expect(await calls({ defaultDecision: "allow" })).toMatchObject([
      { kind: "tool_use", toolName: "execute", input: { command: "make test" } },
      { kind: "tool_result", toolName: "execute", content: "done", isError: false },
    ]);
    expect(await calls({ defaultDecision: "deny" })).toEqual([]);
  });

  it("can't be denied if the agent may not ask: the denial is listed as ignored, and refused if it is required", async () => {
    const spec = { prompt: "say x", cwd, permissionConfig: { disallowPatterns: ["^rm"] } };
    await using handle = await shared.spawn(spec);
    expect(handle.ignored).toEqual([
      { field: "permissionConfig", reason: expect.stringContaining("asksPermission") },
    ]);
    const required = { ...spec, required: ["permissionConfig"] } as const;
    await expect(shared.spawn(required)).rejects.toMatchObject({ code: "unsupported" });
    await using strict = await launchTiny({ asksPermission: "always" });
    expect(strict.capabilities.needsPermissionConfig).toBe(true);
    await using honoured = await strict.spawn(required);
    expect(honoured.ignored).toEqual([]);
  });

  it("causes invalid_spec if the patterns are invalid", async () => {
    const spawned = shared.spawn({ prompt: "x", cwd, permissionConfig: { allowPatterns: ["("] } });
    await expect(spawned).rejects.toMatchObject({ code: "invalid_spec" });
  });
});
