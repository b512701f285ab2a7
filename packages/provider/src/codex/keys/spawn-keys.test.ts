import { gate, say, waitFor } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { Codex } from "codexkit";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexFixture, read, type Transcript } from "../../../test/codex-fixture.ts";
import { CodexProvider } from "../codex-provider.ts";

describe("an idempotency key", () => {
  it("starts one session, however often it is used", async () => {
    await using fixture = await codexFixture(() => say("once"));
    const spec = fixture.spec("go");
    const idempotencyKey = "task-1";
    const [one, two] = await Promise.all([
      fixture.provider.spawn(spec, { idempotencyKey }),
      fixture.provider.spawn({ ...spec }, { idempotencyKey }),
    ]);
    expect(two).toBe(one);
    await read(one);
    const late = await fixture.provider.spawn(spec, { idempotencyKey });
    expect(late.sessionId).toBe(one.sessionId);
    expect(fixture.model.requests).toHaveLength(1);
    await expect(fixture.provider.spawn(fixture.spec("other"), { idempotencyKey })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
    const other = await fixture.provider.spawn(spec, { idempotencyKey: "task-2" });
    expect(other.sessionId).not.toBe(one.sessionId);
    await read(other);
  });

  it("finds the session from another process: an interrupted one is resumed, a completed one is not run again", async () => {
    const hold = gate();
    await using fixture = await codexFixture(({ input }) =>
      input.filter(({ role }) => role === "user").length < 3 ? say(["half", waitFor(hold)]) : say("whole"),
    );
    const spec = fixture.spec("go");
    const idempotencyKey = "task-1";
    const crashed = await fixture.provider.spawn(spec, { idempotencyKey });
    await fixture.model.waitForRequests(1);
    process.kill(fixture.provider.pid ?? 0, "SIGKILL");
    expect((await read(crashed)).end).toMatchObject({ code: "app_server_crashed" });
    const again = async (): Promise<Transcript> => {
      await using provider = await CodexProvider.create(fixture.options);
      return await read(await provider.spawn({ ...spec }, { idempotencyKey }));
    };
    const continued = await again();
    expect(continued).toMatchObject({
      sessionId: crashed.sessionId,
      end: { success: true, message: "whole" },
    });
    const before = fixture.model.requests.length;
    const repeated = await again();
    expect(repeated).toMatchObject({
      sessionId: crashed.sessionId,
      end: { success: true, message: "whole" },
    });
    expect(repeated.events.map(({ kind }) => kind)).toEqual(["init", "assistant_text", "result"]);
    expect(fixture.model.requests).toHaveLength(before);
    await using provider = await CodexProvider.create(fixture.options);
    await expect(provider.spawn(fixture.spec("other"), { idempotencyKey })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
  });

  it("starts a new session if its session no longer exists", async () => {
    await using fixture = await codexFixture(() => say("ok"));
    const idempotencyKey = "task-1";
    const first = await fixture.provider.spawn(fixture.spec("go"), { idempotencyKey });
    await read(first);
    await first.stop();
    await using codex = await Codex.launch(fixture.options);
    await codex.request("thread/delete", { threadId: first.sessionId });
    await using provider = await CodexProvider.create(fixture.options);
    const second = await provider.spawn(fixture.spec("go"), { idempotencyKey });
    expect(second.sessionId).not.toBe(first.sessionId);
    expect((await read(second)).end).toMatchObject({ success: true });
  });
});

describe("a session whose key can't be recorded", () => {
  it("is released", async () => {
    await using folders = await codexFolders({ model: () => say("never") });
    const options = { env: folders.env, inheritEnv: false, listen: `unix://${join(folders.root, "socket")}` };
    await using provider = await CodexProvider.create(options);
    // A link to a missing folder: no key can be read or recorded.
    await symlink(join(folders.root, "missing"), join(folders.codexHome, "codexkit-spawn-keys"));
    const spec = { prompt: "go", cwd: folders.workspace, sandboxEnabled: false };
    const spawned = provider.spawn(spec, { idempotencyKey: "task-1" });
    await expect(spawned).rejects.toMatchObject({ code: "spawn_failed" });
    await using observer = await Codex.connect(options.listen);
    const loaded = async () => (await observer.request("thread/loaded/list", {})).data;
    await expect.poll(loaded).toEqual([]);
  });
});
