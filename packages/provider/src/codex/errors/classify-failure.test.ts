import { cut, fail, type Reply, say } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexFixture, read } from "../../../test/codex-fixture.ts";
import type { ErrorSubtype } from "../../contract/agent-event.ts";
import { CodexProvider } from "../codex-provider.ts";

describe("a failure of the model's endpoint", () => {
  it("has its own subtype, and is retryable if a retry may succeed", async () => {
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
    await using fixture = await codexFixture(() => reply);
    for (const [failure, errorSubtype, retryable] of failures) {
      reply = failure;
      const { end } = await fixture.run("go");
      expect(end).toMatchObject({ kind: "result", success: false, errorSubtype, retryable });
    }
  });

  it("is authentication_failed if the key is missing", async () => {
    await using folders = await codexFolders({ model: () => say("ok"), modelRetries: 0 });
    const key = 'model_providers.scripted.env_key="CODEXKIT_NO_SUCH_KEY"\n';
    await appendFile(join(folders.codexHome, "config.toml"), key);
    await using provider = await CodexProvider.create({ env: folders.env, inheritEnv: false });
    const handle = await provider.spawn({ prompt: "go", cwd: folders.workspace, sandboxEnabled: false });
    expect((await read(handle)).end).toMatchObject({
      errorSubtype: "authentication_failed",
      retryable: false,
    });
  });
});
