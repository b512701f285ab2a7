import { fakeAppServerCommand, launchCodex, tempFolder } from "@codexkit/testing";
import type { ChildProcess } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { CodexAuth } from "./codex-auth.ts";
import { Codex } from "./codex.ts";

const apiKey: CodexAuth = { type: "apiKey", apiKey: "sk-test-of-codexkit" };

it.for([
  ["no codexHome", undefined],
  ["the user's own home", join(homedir(), ".codex")],
] as const)("rejects a login with %s, which would change the user's credentials", async ([, codexHome]) => {
  await expect(Codex.launch({ auth: apiKey, codexHome })).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringMatching(/private codexHome/) as string,
  });
});

it.for([
  [{ type: "apiKey", apiKey: " " }, /auth\.apiKey is empty/],
  [{ type: "apiKey", apikey: "sk" }, /apikey/],
  [{ type: "tokens" }, /auth\.getTokens must be a function/],
  [{ type: "password" }, /"apiKey" or "tokens", got "password"/],
] as const)("rejects %j", async ([auth, message]) => {
  await using home = await tempFolder("auth");
  await expect(
    Codex.launch({ auth: auth as unknown as CodexAuth, codexHome: home.path }),
  ).rejects.toMatchObject({ code: "invalid_argument", message: expect.stringMatching(message) as string });
});

it("signs in with an API key, also on servers that are launched later", async () => {
  await using home = await tempFolder("auth");
  await using launched = await launchCodex({ model: ["done"], auth: apiKey, codexHome: home.path });
  const { codex } = launched;
  expect(await codex.account.read()).toMatchObject({ account: { type: "apiKey" } });

  await codex.restartIfIdle();

  expect(await codex.account.read()).toMatchObject({ account: { type: "apiKey" } });
});

it("requests tokens at every launch and after they expire, and waits for the login", async () => {
  await using home = await tempFolder("auth");
  const completed = { loginId: null, success: true, error: null, onboardingEntrypoint: null };
  const { command, args } = fakeAppServerCommand({
    on: {
      "account/login/start": [
        { do: "reply", result: { type: "chatgptAuthTokens" } },
        { do: "notify", method: "account/login/completed", params: completed },
      ],
      "account/read": [
        {
          do: "request",
          id: 7,
          method: "account/chatgptAuthTokens/refresh",
          params: { reason: "unauthorized", previousAccountId: "account-1" },
        },
        { do: "reply", result: {} },
      ],
    },
  });
  const asked: unknown[] = [];
  const answers: unknown[] = [];
  const answered = Promise.withResolvers<void>();
  const auth: CodexAuth = {
    type: "tokens",
    getTokens: (refresh) => {
      asked.push(refresh?.reason);
      return { accessToken: `token-${asked.length}`, chatgptAccountId: "account-1" };
    },
  };
  await using codex = await Codex.launch({
    codexPath: command,
    wrapperArgs: args,
    auth,
    codexHome: home.path,
    onPacket: ({ direction, text }) => {
      if (direction !== "sent") return;
      const { params, result, method } = JSON.parse(text) as {
        params?: unknown;
        result?: { accessToken?: string };
        method?: string;
      };
      if (method === "account/login/start") answers.push(params);
      if (result?.accessToken !== undefined) {
        answers.push(result);
        answered.resolve();
      }
    },
  });
  expect(asked).toEqual([undefined]);

  await codex.account.read();
  await answered.promise;
  expect(asked).toEqual([undefined, "unauthorized"]);

  await codex.restartIfIdle();
  await codex.server();
  expect(asked).toEqual([undefined, "unauthorized", undefined]);
  expect(answers).toMatchObject([
    { type: "chatgptAuthTokens", accessToken: "token-1", chatgptAccountId: "account-1" },
    { accessToken: "token-2", chatgptAccountId: "account-1" },
    { type: "chatgptAuthTokens", accessToken: "token-3", chatgptAccountId: "account-1" },
  ]);
});

it("fails to launch with tokens that Codex does not accept, and leaves no process behind", async () => {
  await using home = await tempFolder("auth");
  const auth: CodexAuth = {
    type: "tokens",
    getTokens: () => ({ accessToken: "none", chatgptAccountId: "account-1" }),
  };
  const children: ChildProcess[] = [];
  await expect(
    launchCodex({
      model: ["done"],
      auth,
      codexHome: home.path,
      onSpawn: (child) => children.push(child),
    }),
  ).rejects.toMatchObject({
    code: "request_failed",
    message: expect.stringMatching(/did not accept the credentials/) as string,
  });
  expect(children).toHaveLength(1);
  expect(children.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null)).toBe(true);
});
