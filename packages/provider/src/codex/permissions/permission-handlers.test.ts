// Tests the answers that the real codex receives under the permissions of a spec.
import { callTool, type Part, patch, run, say } from "@codexkit/scripted-model";
import { repetitions } from "@codexkit/testing";
import type { AnyApproval, HandlerContext } from "codexkit";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { codexFixture, ofKind, type Transcript } from "../../../test/codex-fixture.ts";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { planSpawn } from "../plan/plan-spawn.ts";
import { permissionHandlers } from "./permission-handlers.ts";

const mcpServer = fileURLToPath(new URL("../../../test/mcp-server.ts", import.meta.url));
const echo = { name: "echo", command: process.execPath, args: [mcpServer] };

interface Verdicts {
  readonly transcript: Transcript;
  /** Whether each tool succeeded. */
  readonly done: Readonly<Record<string, boolean>>;
  readonly denied: readonly string[];
}

/** Has the model make all of these calls at once, with their keys as ids. */
async function attempt(
  calls: Readonly<Record<string, Part>>,
  spec: Partial<AgentSpec>,
  options: Parameters<typeof codexFixture>[1] = {},
): Promise<Verdicts> {
  await using fixture = await codexFixture(
    ({ newOutputs }) => (newOutputs.length > 0 ? say("done") : Object.values(calls)),
    options,
  );
  const transcript = await fixture.run("go", spec);
  const results = ofKind(transcript, "tool_result");
  return {
    transcript,
    done: Object.fromEntries(
      Object.keys(calls).map((id) => [
        id,
        results.find(({ toolUseId }) => toolUseId === id)?.isError === false,
      ]),
    ),
    denied: ofKind(transcript, "system")
      .filter(({ subtype }) => subtype === "approval_denied")
      .map(({ message }) => message),
  };
}

function commands(...lines: readonly string[]): Record<string, Part> {
  return Object.fromEntries(lines.map((line) => [line, run(line, { callId: line })]));
}

const edit = patch("*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\n", { callId: "edit" });
const call = callTool("echo", { text: "hi" }, { namespace: "mcp__echo", callId: "call" });

describe("a permission request of Codex", () => {
  it("is denied if it is unsafe, regardless of the spec", async () => {
    const { done, denied } = await attempt(commands("sudo id", "git reset --hard", "true"), {
      permissionConfig: { allowPatterns: [".*"] },
    });
    expect(done).toEqual({ "sudo id": false, "git reset --hard": false, true: true });
    expect(denied).toHaveLength(2);
  });

  it("is denied by the spec's deny list before its allow list applies", async () => {
    const { done } = await attempt(commands("echo a", "echo b"), {
      permissionConfig: { allowPatterns: ["^echo"], disallowPatterns: ["b$"] },
    });
    expect(done).toEqual({ "echo a": true, "echo b": false });
  });

  it("is denied if it is not in the allow list", async () => {
    const { done, denied } = await attempt(commands("echo a", "pwd"), {
      permissionConfig: { allowPatterns: ["^echo"] },
    });
    expect(done).toEqual({ "echo a": true, pwd: false });
    expect(denied).toEqual([expect.stringContaining("not in the allow list")]);
  });

  it.each([
    ["deny", false],
    ["prompt", false],
    ["allow", true],
  ] as const)("gets the default decision: %s", async (defaultDecision, isDone) => {
    const { done } = await attempt({ ...commands("uname"), edit }, { permissionConfig: { defaultDecision } });
    expect(done).toEqual({ uname: isDone, edit: isDone });
  });

  it("is passed to the ask handler if the provider has one and the spec is not autonomous", async () => {
    const spec = { autonomous: false, permissionConfig: { defaultDecision: "prompt" } } as const;
    const { done } = await attempt(commands("uname", "uname -a"), spec, {
      ask: ({ evaluation }) => ({
        decision: evaluation.parse?.some(({ command }) => command === "uname -a") ? "allow" : "deny",
      }),
    });
    expect(done).toEqual({ uname: false, "uname -a": true });
  });

  it("is decided by the tool lists: commands, files, servers", async () => {
    const tools = { ...commands("git status", "git push", "ls"), edit, call };
    const spec = { mcpStdioServers: [echo] };
    const allowed = await attempt(tools, {
      ...spec,
      allowedTools: ["Bash(git:*)", "Bash(ls)", "mcp__echo"],
      disallowedTools: ["Bash(git push:*)"],
    });
    expect(allowed.done).toMatchObject({ "git push": false, ls: true, edit: false, call: true });
    const denied = await attempt(tools, { ...spec, disallowedTools: ["Bash", "mcp__echo__echo"] });
    expect(denied.done).toMatchObject({ ls: false, edit: true, call: false });
  });

  it("is reported as a tool with its answer, and a denial also as a system event", async () => {
    const { transcript } = await attempt(
      { "sudo id": run("sudo id", { callId: "sudo id" }), call },
      {
        mcpStdioServers: [echo],
      },
    );
    const uses = ofKind(transcript, "tool_use").filter(({ toolCategory }) => toolCategory === "approval");
    expect(uses.map(({ toolName }) => toolName).toSorted()).toEqual(["approval:command", "approval:mcpTool"]);
    for (const { toolUseId, toolName } of uses) {
      const results = ofKind(transcript, "tool_result").filter((result) => result.toolUseId === toolUseId);
      expect(results).toMatchObject([{ isError: toolName === "approval:command" }]);
    }
  });
});

/** A folder that is not writable in Codex's sandbox, unlike those in the temp folder. */
async function folderOutside(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp("/var/tmp/codexkit-outside-");
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

describe("the sandbox of a spec", () => {
  const inside = { sandboxEnabled: true } as const;

  it("confines an approved program, also after it failed for lack of permissions", async () => {
    await using otherFolder = await folderOutside();
    const path = join(otherFolder.path, "written");
    await using fixture = await codexFixture(({ newOutputs }) =>
      newOutputs.length > 0 ? say("done") : run("sh ./write.sh", { callId: "c" }),
    );
    await writeFile(join(fixture.workspace, "write.sh"), `touch ${path}`);
    const transcript = await fixture.run("go", inside);
    const results = ofKind(transcript, "tool_result").map(({ toolName, isError }) => [toolName, isError]);
    expect(Object.fromEntries(results)).toEqual({ "approval:command": false, shell: true });
    expect(existsSync(path)).toBe(false);
  });

  // Each sandbox takes half a second of CPU time, and more on a busy machine.
  it(
    "is set up for concurrent sessions, also without credentials to hide",
    { timeout: 120_000 },
    async () => {
      await using fixture = await codexFixture(() => say("done"));
      const sessions = Array.from({ length: repetitions({ test: 6, soak: 20 }) }, () =>
        fixture.run("go", inside),
      );
      for (const { end } of await Promise.all(sessions)) expect(end).toMatchObject({ success: true });
    },
  );

  it("confines a command that requests more permissions", async () => {
    const asking = run("touch here.txt", { callId: "asking", escalate: "it must" });
    const { done, denied } = await attempt(
      { asking, inside: run("touch here.txt", { callId: "inside" }) },
      inside,
    );
    expect(done).toEqual({ asking: false, inside: true });
    expect(denied).toEqual([expect.stringContaining("in its sandbox")]);
  });

  it.each<[string, Partial<AnyApproval>]>([
    ["a request for permissions", { kind: "permissions" }],
    ["a command with more rights", { kind: "command", additionalPermissions: {} as never }],
    ["a command with a reason", { kind: "command", reason: "it must" }],
  ])("can't be left by %s", async (_, approval) => {
    const { permissions } = planSpawn({ prompt: "go", cwd: "/w" }, { codexHome: "/h" });
    const { approve } = permissionHandlers(permissions, { cwd: "/w" });
    const answer = await approve?.(approval as AnyApproval, {} as HandlerContext);
    expect(answer).toEqual({ decision: "decline", reason: expect.stringContaining("sandbox") });
  });

  it("confines patches: none outside the workspace, and none at all if it is read-only", async () => {
    await using otherFolder = await folderOutside();
    const path = join(otherFolder.path, "new.txt");
    const outside = patch(`*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`, {
      callId: "outside",
    });
    const workspace = await attempt({ edit, outside }, inside);
    expect(workspace.done).toEqual({ edit: true, outside: false });
    const readOnly = await attempt({ edit }, { ...inside, sandboxLevel: "read-only" });
    expect(readOnly.done).toEqual({ edit: false });
    expect(existsSync(path)).toBe(false);
  });

  it("can be extended: more folders, the network", async () => {
    await using otherFolder = await folderOutside();
    const path = join(otherFolder.path, "wide");
    const line = `cat /proc/net/dev | wc -l > ${path}`;
    const { done } = await attempt(commands(line), {
      ...inside,
      providerConfig: { writableRoots: [otherFolder.path], networkAccess: true },
    });
    expect(done).toEqual({ [line]: true });
    expect(Number(await readFile(path, "utf8"))).toBeGreaterThan(2);
  });
});
