// Tests the threads that a provider holds, on the real codex.
import { say } from "@codexkit/scripted-model";
import { launchCodex, type LaunchedCodex } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { userPrompt } from "../../test/codex-stage.ts";
import { type Call, readCall } from "../call/read-call.ts";
import { callDefaults } from "../options/model-settings.ts";
import { Sessions } from "./sessions.ts";

async function storeThread({ codex, workspace }: LaunchedCodex): Promise<string> {
  await using thread = await codex.startThread({ cwd: workspace });
  await thread.run("one");
  return thread.id;
}

function callWith(abortSignal?: AbortSignal, prompt = userPrompt("two")): Promise<Call> {
  const defaults = callDefaults({ fetch: undefined, onWarning: undefined }, {});
  return readCall("mock-model", defaults, {
    prompt,
    ...(abortSignal && { abortSignal }),
  });
}

describe("a new thread that can't get its history", () => {
  it("is released", async () => {
    const abort = new AbortController();
    await using stage = await launchCodex({
      model: [],
      onPacket: (packet) => {
        if (JSON.stringify(packet).includes("thread/inject_items")) abort.abort(new Error("left"));
      },
    });
    const sessions = new Sessions(stage.codex, { prestartedThreads: 0 });
    const call = await callWith(abort.signal, [
      ...userPrompt("one"),
      { role: "assistant", content: [{ type: "text", text: "earlier" }] },
      ...userPrompt("two"),
    ]);
    await expect(sessions.start(call)).rejects.toMatchObject({ code: "aborted" });
    await expect.poll(async () => (await stage.codex.request("thread/loaded/list", {})).data).toEqual([]);
  });
});

describe("concurrent calls that resume a thread", () => {
  it("get the same session, even if the first call is aborted", async () => {
    await using stage = await launchCodex({ model: () => say("ok") });
    const threadId = await storeThread(stage);
    const sessions = new Sessions(stage.codex, { prestartedThreads: 0 });
    const abort = new AbortController();
    const first = sessions.resume(threadId, await callWith(abort.signal));
    const others = [
      sessions.resume(threadId, await callWith()),
      sessions.resume(threadId, await callWith(new AbortController().signal)),
    ];
    abort.abort(new Error("first left"));
    await expect(first).rejects.toThrow("first left");
    const [second, third] = await Promise.all(others);
    expect(second).toBe(third);
    expect(sessions.find(threadId)).toBe(second);
    await sessions.close({ leaves: false });
  });

  it("can all be aborted, and the next call resumes the thread", async () => {
    await using stage = await launchCodex({ model: () => say("ok") });
    const threadId = await storeThread(stage);
    const sessions = new Sessions(stage.codex, { prestartedThreads: 0 });
    const abort = new AbortController();
    const call = await callWith(abort.signal);
    const aborted = [sessions.resume(threadId, call), sessions.resume(threadId, call)];
    abort.abort(new Error("all left"));
    for (const one of aborted) await expect(one).rejects.toThrow("all left");
    expect(sessions.find(threadId)).toBeUndefined();
    const session = await sessions.resume(threadId, await callWith());
    expect(sessions.find(threadId)).toBe(session);
    await sessions.close({ leaves: false });
  });
});
