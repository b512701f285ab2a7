import { gate, say, waitFor } from "@codexkit/scripted-model";
import { fakeAppServerCommand, tempFolder } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { codexFixture, read } from "../../test/codex-fixture.ts";
import { CodexProvider } from "./codex-provider.ts";

describe("openTimeoutMs", () => {
  it("rejects a call that does not open the session in time, and releases everything", async () => {
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
    await using fixture = await codexFixture(() => say(["a", waitFor(hold), "b"]));
    const handle = await fixture.provider.spawn(fixture.spec("go", { openTimeoutMs: 20_000 }));
    hold.open();
    expect((await read(handle)).end).toMatchObject({ success: true, message: "ab" });
  });
});
