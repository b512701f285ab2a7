// Tests moving sessions between homes of the real codex.
import { gate, say, type Script, waitFor } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type CodexFixture, codexFixture, read } from "../../../test/codex-fixture.ts";

/** Repeats all earlier user messages. */
const recalls: Script = ({ input }) => say(JSON.stringify(input.filter(({ role }) => role === "user")));

async function resumed(fixture: CodexFixture, sessionId: string, prompt: string): Promise<string> {
  const handle = await fixture.provider.resume(sessionId, fixture.spec(prompt));
  const { end } = await read(handle);
  await handle.stop();
  return end.message;
}

describe("an exported session", () => {
  it("continues in another home, and then in the first again", async () => {
    await using here = await codexFixture(recalls);
    await using there = await codexFixture(recalls);
    const { sessionId } = await here.run("the heron");
    expect(await there.provider.import(await here.provider.export(sessionId))).toBe(sessionId);
    expect(await resumed(there, sessionId, "the otter")).toContain("the heron");
    await here.provider.import(await there.provider.export(sessionId));
    const words = await resumed(here, sessionId, "again");
    expect(words).toContain("the heron");
    expect(words).toContain("the otter");
  });

  it("is restored exactly as it was exported, even if the session has continued since", async () => {
    await using fixture = await codexFixture(recalls);
    const { sessionId } = await fixture.run("the heron");
    const bytes = await fixture.provider.export(sessionId);
    await resumed(fixture, sessionId, "the otter");
    await fixture.provider.import(bytes);
    await fixture.provider.import(bytes);
    const words = await resumed(fixture, sessionId, "again");
    expect(words).toContain("the heron");
    expect(words).not.toContain("the otter");
  });

  it("includes the threads that it was forked from", async () => {
    await using here = await codexFixture(recalls);
    await using there = await codexFixture(recalls);
    const { sessionId: source } = await here.run("the heron");
    const forked = await fork(here, source);
    expect(await there.provider.import(await here.provider.export(forked))).toBe(forked);
    expect(await resumed(there, forked, "again")).toContain("the heron");
    // The source was imported as a separate session.
    expect(await resumed(there, source, "again")).toContain("the heron");
  });

  it("does not contain reverted turns, and keeps later ones", async () => {
    await using here = await codexFixture(recalls);
    await using there = await codexFixture(recalls);
    const { sessionId } = await here.run("the heron");
    await resumed(here, sessionId, "the otter");
    await revertLast(here, sessionId);
    await resumed(here, sessionId, "the badger");
    await there.provider.import(await here.provider.export(sessionId));
    const words = await resumed(there, sessionId, "again");
    expect(words).toContain("the heron");
    expect(words).toContain("the badger");
    expect(words).not.toContain("the otter");
  });

  it("must have ended, and does not replace a running one", async () => {
    const hold = gate();
    await using fixture = await codexFixture(({ lastUserText }) =>
      lastUserText === "wait" ? say(["a", waitFor(hold)]) : say("b"),
    );
    const { sessionId } = await fixture.run("go");
    const bytes = await fixture.provider.export(sessionId);
    const handle = await fixture.provider.resume(sessionId, fixture.spec("wait"));
    const busy = { code: "session_busy", retryable: true };
    await expect(fixture.provider.export(sessionId)).rejects.toMatchObject(busy);
    await expect(fixture.provider.import(bytes)).rejects.toMatchObject(busy);
    hold.open();
    await read(handle);
    await fixture.provider.import(bytes);
  });

  it("is refused if it does not exist, or if the bytes are invalid", async () => {
    await using fixture = await codexFixture(recalls);
    const unknown = fixture.provider.export("01a1def3-1278-73b0-bd6f-cda1d133cf49");
    await expect(unknown).rejects.toMatchObject({ code: "session_not_found" });
    const id = "01a1def3-1278-73b0-bd6f-cda1d133cf49";
    const image = (name: string): Uint8Array =>
      zstdCompressSync(
        JSON.stringify({
          format: "codexkit-codex-session",
          version: 1,
          sessionId: id,
          files: [{ name, data: "e30=" }],
        }),
      );
    const wrong = [
      new TextEncoder().encode("not an export"),
      zstdCompressSync("{}"),
      image("../../../config.toml"),
      image(`rollout-2026-01-01T00-00-00-${id}/../../x.jsonl`),
      image("rollout-2026-01-01T00-00-00-01a1def3-1278-73b0-bd6f-cda1d133cf50.jsonl"),
    ];
    for (const bytes of wrong) {
      await expect(fixture.provider.import(bytes)).rejects.toMatchObject({ code: "invalid_export" });
    }
  });
});

/** Forks a session as another program on the same home does, and runs a turn of the fork. */
async function fork(fixture: CodexFixture, sessionId: string): Promise<string> {
  await using codex = await Codex.launch(fixture.options);
  const thread = await codex.forkThread(sessionId, {});
  await thread.run("the fork");
  return thread.id;
}

/** Reverts the newest turn of a session, as another program on the same home does. */
async function revertLast(fixture: CodexFixture, sessionId: string): Promise<void> {
  await using codex = await Codex.launch(fixture.options);
  const thread = await codex.resumeThread(sessionId);
  const { data } = await codex.request("thread/turns/list", { threadId: sessionId, limit: 1 });
  await codex.request("thread/revert", { threadId: sessionId, beforeTurnId: data[0]?.id ?? "" });
  await thread.close();
}
