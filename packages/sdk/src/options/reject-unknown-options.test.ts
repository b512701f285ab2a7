import type { Transport } from "@codexkit/rpc";
import { say } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { describe, expect, it, vi } from "vitest";
import { Codex } from "../codex.ts";
import { CONNECT, LAUNCH } from "../codex-options.ts";
import { policyHandlers } from "../requests/policy-handlers.ts";
import { RUN } from "../thread/run-options.ts";
import { START_THREAD } from "../thread/thread-options.ts";
import { defineTool } from "../tools/define-tool.ts";
import { findNearestName, rejectUnknownOptions } from "./reject-unknown-options.ts";

/** Options as a JavaScript program could pass them. */
function misspelt(options: object): never {
  return options as never;
}

function refusal(option: string, nearest: string): object {
  return {
    code: "invalid_argument",
    message: expect.stringMatching(new RegExp(`has no option "${option}".*"${nearest}"`)) as string,
  };
}

describe("an unknown option", () => {
  it.each([
    ["sandboxMode", START_THREAD, "sandbox"],
    ["sandboxMode", RUN, "sandboxPolicy"],
    ["sandbox", RUN, "sandboxPolicy"],
    ["workingDirectory", START_THREAD, "cwd"],
    ["Cwd", START_THREAD, "cwd"],
    ["approval_policy", START_THREAD, "approvalPolicy"],
    ["aprovalPolicy", START_THREAD, "approvalPolicy"],
    ["modelReasoningEffort", RUN, "effort"],
    ["outputShema", RUN, "outputSchema"],
    ["whenbusy", RUN, "whenBusy"],
    ["codexPathOverride", LAUNCH, "codexPath"],
    ["codexpath", LAUNCH, "codexPath"],
    ["onStdErr", LAUNCH, "onStderr"],
    ["tokens", CONNECT, "token"],
    ["cdw", START_THREAD, "cwd"],
    ["xyzzy", RUN, undefined],
  ])("such as %s gets the nearest valid name as a suggestion", (name, known, nearest) => {
    expect(findNearestName(name, Object.keys(known))).toBe(nearest);
  });

  it("is rejected with all valid names if none is similar", () => {
    const reject = (): void =>
      rejectUnknownOptions("run", misspelt({ xyzzy: 1 }), { signal: true, cwd: true });
    expect(reject).toThrow('run has no option "xyzzy". Valid options: signal, cwd.');
  });

  it("is ignored if its value is undefined", () => {
    expect(() => rejectUnknownOptions("run", misspelt({ xyzzy: undefined }), {})).not.toThrow();
  });

  it("of launch, connect and withTransport is rejected before anything starts, including in nested objects", async () => {
    const path = { codexPath: "/nowhere/codex" };
    await expect(Codex.launch(misspelt({ ...path, sandboxMode: "x" }))).rejects.toMatchObject({
      code: "invalid_argument",
    });
    await expect(Codex.launch(misspelt({ ...path, codexHom: "x" }))).rejects.toMatchObject(
      refusal("codexHom", "codexHome"),
    );
    await expect(Codex.launch(misspelt({ ...path, limits: { callTimeout: 5 } }))).rejects.toMatchObject(
      refusal("callTimeout", "callTimeoutMs"),
    );
    const handlers = { comandApproval: () => "accept" };
    await expect(Codex.launch(misspelt({ ...path, handlers }))).rejects.toMatchObject(
      refusal("comandApproval", "commandApproval"),
    );
    await expect(Codex.connect("unix:///nowhere", misspelt({ tokn: "x" }))).rejects.toMatchObject(
      refusal("tokn", "token"),
    );
    const open = vi.fn<() => Promise<Transport>>();
    await expect(Codex.withTransport(open, misspelt({ lokal: true }))).rejects.toMatchObject(
      refusal("lokal", "local"),
    );
    expect(open).not.toHaveBeenCalled();
  });

  it("of policyHandlers is rejected", () => {
    expect(() => policyHandlers({} as never, misspelt({ onDecison: () => {} }))).toThrow('"onDecision"');
  });

  it("of defineTool is rejected", () => {
    const tool = { name: "a", description: "b", input: { type: "object" }, execute: () => "", paralel: true };
    expect(() => defineTool(misspelt(tool))).toThrow('"parallel"');
  });

  it("of threads, turns and topics is rejected by a real Codex object", async () => {
    await using launched = await launchCodex({ model: () => say("hello") });
    const { codex, workspace } = launched;
    await expect(codex.startThread(misspelt({ sandboxMode: "read-only" }))).rejects.toMatchObject(
      refusal("sandboxMode", "sandbox"),
    );
    await expect(codex.resumeThread("x", misspelt({ modell: "y" }))).rejects.toMatchObject(
      refusal("modell", "model"),
    );
    await expect(codex.startThread({}, misspelt({ timeout: 5 }))).rejects.toMatchObject(
      refusal("timeout", "timeoutMs"),
    );
    const thread = await codex.startThread({ cwd: workspace });
    expect(() => thread.run("x", misspelt({ abortSignal: null }))).toThrow('"signal"');
    await expect(thread.steer("x", misspelt({ clientMessageId: "y" }))).rejects.toMatchObject({
      code: "invalid_argument",
    });
    expect(() => thread.run("x", misspelt({ whenBusy: "later" }))).toThrow("Valid values: reject, steer");
    expect(() => thread.run("x", misspelt({ signal: {} }))).toThrow("signal must be an AbortSignal");
    expect(() => thread.history.turns(misspelt({ limt: 1 }))).toThrow('"limit"');
    expect(() => thread.history.items(misspelt({ limt: 1 }))).toThrow('"limit"');
    await expect(thread.updateSettings(misspelt({ modell: "x" }))).rejects.toMatchObject(
      refusal("modell", "model"),
    );
    const tools = [{ name: "a", description: "b", execute: () => "" }];
    await expect(codex.startThread(misspelt({ tools }))).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("defineTool") as string,
    });
    expect(() => codex.listThreads(misspelt({ archive: true }))).toThrow('"archived"');
    await expect(codex.exec.run(["true"], misspelt({ workdir: "/" }))).rejects.toMatchObject(
      refusal("workdir", "cwd"),
    );
    await expect(codex.models.list(misspelt({ pagesize: 1 })).next()).rejects.toMatchObject(
      refusal("pagesize", "pageSize"),
    );
    await expect(thread.read(misspelt({ timeout: 1 }))).rejects.toMatchObject(
      refusal("timeout", "timeoutMs"),
    );
    expect((await thread.run("x")).finalResponse).toBe("hello");
  });
});

describe("an invalid option", () => {
  it.each([
    ["null", null, "expects an options object, got null"],
    [
      "a limit that is a string",
      { limits: { callTimeoutMs: "5" } },
      'callTimeoutMs must be a number of at least 0, got "5"',
    ],
    [
      "a negative limit",
      { limits: { callTimeoutMs: -1 } },
      "callTimeoutMs must be a number of at least 0, got -1",
    ],
    ["an invalid signal", { signal: {} }, "signal must be an AbortSignal"],
  ])("of launch is rejected: %s", async (_, options, message) => {
    const given = options && { codexPath: "/nowhere/codex", ...options };
    await expect(Codex.launch(given as never)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(message) as string,
    });
  });
});
