// A codex that is frozen (SIGSTOP) answers nothing: every call of the provider must end when its requests time out.
import { gate, say, waitFor } from "@codexkit/scripted-model";
import { describe, expect, it } from "vitest";
import { codexFixture } from "../../test/codex-fixture.ts";

const BOUNDS = {
  limits: { callTimeoutMs: 500 },
  interruptTimeoutMs: 500,
  processLimits: { exitTimeoutMs: 200, terminateTimeoutMs: 200 },
};

// Concurrent, because each test waits for a timeout.
describe.concurrent("on a frozen codex", () => {
  it("spawn and resume reject, stop resolves, and shutdown ends it", async () => {
    await using fixture = await codexFixture(
      ({ lastUserText }) => (lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say("done")),
      { ...BOUNDS, limits: { callTimeoutMs: 4_000 } },
    );
    const ended = await fixture.run("first");
    const held = await fixture.provider.spawn(fixture.spec("hold"));
    for await (const event of held.events) if (event.kind === "assistant_text") break;
    const { pid } = fixture.provider;
    if (pid === undefined) throw new Error("codex is not running");
    process.kill(pid, "SIGSTOP");
    const open = { openTimeoutMs: 500 };
    await expect(fixture.provider.spawn(fixture.spec("go", open))).rejects.toMatchObject({
      code: "open_timeout",
    });
    await expect(fixture.provider.resume(ended.sessionId, fixture.spec("go", open))).rejects.toMatchObject({
      code: "open_timeout",
    });
    await held.stop();
    await fixture.provider.shutdown();
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });

  it("spawn times out even without a limit in the spec", async () => {
    await using fixture = await codexFixture(() => say("done"), BOUNDS);
    const { pid } = fixture.provider;
    if (pid === undefined) throw new Error("codex is not running");
    process.kill(pid, "SIGSTOP");
    await expect(fixture.provider.spawn(fixture.spec("go"))).rejects.toMatchObject({ name: "ProviderError" });
  });
});
