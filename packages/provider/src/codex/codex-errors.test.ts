import { cut, fail, gate, type Reply, say, waitFor } from "@codexkit/scripted-model";
import { fakeAppServerCommand, tempFolder } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { codexStage, read } from "../../test/codex-stage.ts";
import type { ErrorSubtype } from "../contract/agent-event.ts";
import { CodexProvider } from "./codex-provider.ts";

describe("a failure of the model's endpoint", () => {
  it("has a subtype of its own, and tells whether a retry may help", async () => {
    const failures: readonly (readonly [Reply, ErrorSubtype, boolean])[] = [
      [fail.http(401), "authentication_failed", false],
      [fail.http(403), "authentication_failed", false],
      [fail.http(429), "rate_limited", true],
      [fail.http(429, { code: "insufficient_quota" }), "quota_exceeded", false],
      [fail.http(400), "execution_failed", false],
      [fail.http(500), "server_error", true],
      [fail.http(503), "server_error", true],
      [fail.response("rate_limit_exceeded"), "rate_limited", true],
      [fail.response("insufficient_quota"), "quota_exceeded", false],
      [fail.response("server_is_overloaded"), "server_error", true],
      [fail.response("context_length_exceeded"), "token_limit", false],
      [fail.response("cyber_policy"), "refused", false],
      [say(["half", cut()]), "server_error", true],
      [[cut()], "server_error", true],
      [fail.incomplete(), "execution_failed", false],
    ];
    let reply: Reply = say("");
    await using stage = await codexStage(() => reply);
    for (const [failure, errorSubtype, retryable] of failures) {
      reply = failure;
      const { end } = await stage.run("go");
      expect(end).toMatchObject({ kind: "result", success: false, errorSubtype, retryable });
    }
  });
});

describe("openTimeoutMs", () => {
  it("ends a call that does not open the session, and leaves nothing of it", async () => {
    await using folder = await tempFolder("fake");
    const initialize = {
      do: "reply",
      result: { userAgent: "fake/0.166.0", codexHome: folder.path },
    } as const;
    const { command, args } = fakeAppServerCommand({
      on: { initialize: [initialize], "thread/start": [{ do: "nothing" }] },
    });
    await using provider = await CodexProvider.create({ codexPath: command, wrapperArgs: args });
    const spec = { prompt: "go", cwd: folder.path, openTimeoutMs: 20 };
    await expect(provider.spawn(spec)).rejects.toMatchObject({ code: "open_timeout", retryable: true });
    expect(provider.sessions).toBe(0);
    const early = provider.spawn({ ...spec, openTimeoutMs: 600_000 }, { signal: AbortSignal.timeout(1) });
    await expect(early).rejects.toMatchObject({ code: "context_cancelled" });
  });

  it("does not end a session that is open", async () => {
    const hold = gate();
    await using stage = await codexStage(() => say(["a", waitFor(hold), "b"]));
    const handle = await stage.provider.spawn(stage.spec("go", { openTimeoutMs: 20_000 }));
    hold.open();
    expect((await read(handle)).end).toMatchObject({ success: true, message: "ab" });
  });
});

describe("an idempotency key", () => {
  it("starts one session, however often it is used", async () => {
    await using stage = await codexStage(() => say("once"));
    const spec = stage.spec("go");
    const idempotencyKey = "task-1";
    const [one, two] = await Promise.all([
      stage.provider.spawn(spec, { idempotencyKey }),
      stage.provider.spawn({ ...spec }, { idempotencyKey }),
    ]);
    expect(two).toBe(one);
    await read(one);
    const late = await stage.provider.spawn(spec, { idempotencyKey });
    expect(late.sessionId).toBe(one.sessionId);
    expect(stage.model.requests).toHaveLength(1);
    await expect(stage.provider.spawn(stage.spec("other"), { idempotencyKey })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
    const other = await stage.provider.spawn(spec, { idempotencyKey: "task-2" });
    expect(other.sessionId).not.toBe(one.sessionId);
    await read(other);
  });
});
