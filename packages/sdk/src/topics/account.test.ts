import type { v2 } from "@codexkit/protocol";
import { headers, say } from "@codexkit/scripted-model";
import {
  type AppServer,
  type FakeAction,
  type FakeBehaviour,
  notify,
  startAppServer,
  startFakeAppServer,
} from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { rateLimits, rateLimitWindow } from "../../test/rate-limits.ts";
import { Account } from "./account.ts";
import { discoverCredentials } from "./discover-credentials.ts";
import type { TopicCaller } from "./topic-caller.ts";

const API_KEY = "sk-test-of-codexkit";

describe("the real codex", () => {
  let server: AppServer;
  let caller: TopicCaller;
  let account: Account;
  beforeAll(async () => {
    server = await startAppServer({
      model: [
        [
          headers({
            "x-codex-primary-used-percent": "12",
            "x-codex-primary-window-minutes": "300",
            "x-codex-secondary-used-percent": "40",
          }),
          say("done"),
        ],
      ],
      config: ["model_providers.scripted.requires_openai_auth=true"],
    });
    caller = peerCaller(await server.connect());
    account = new Account(caller);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("signs in with an API key in its own home, and out again", async () => {
    expect(await account.read()).toMatchObject({ account: null, requiresOpenaiAuth: true });
    const authModes: (string | null)[] = [];
    using _listening = account.onUpdated(({ authMode }) => authModes.push(authMode));
    await account.loginWithApiKey(API_KEY);
    expect(await account.read()).toMatchObject({ account: { type: "apiKey" } });
    expect(await readFile(join(server.codexHome, "auth.json"), "utf8")).toContain(API_KEY);
    expect(await discoverCredentials({ env: {}, codexHome: server.codexHome })).toMatchObject({
      kind: "apiKey",
      source: "auth.json",
      apiKey: API_KEY,
    });
    await account.logout();
    expect(await account.read()).toMatchObject({ account: null });
    expect(await discoverCredentials({ env: {}, codexHome: server.codexHome })).toEqual({ kind: "none" });
    expect(authModes).toEqual(["apikey", null]);
  });

  it("rejects an empty API key, which codex would accept", async () => {
    await expect(account.loginWithApiKey(" ")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("returns a URL for the browser and cancels the login", async () => {
    const login = await account.loginWithChatgpt();
    expect(login.authUrl).toMatch(/^https:\/\/auth\.openai\.com\/oauth\/authorize\?/);
    expect(await login.cancel()).toBe(true);
    await expect(login.completed).rejects.toMatchObject({
      code: "request_failed",
      message: expect.stringMatching(/The login failed/) as string,
    });
    expect(await login.cancel()).toBe(false);
  });

  it("cancels the login when the signal aborts or the timeout passes", async () => {
    const controller = new AbortController();
    const aborted = await account.loginWithChatgpt({ signal: controller.signal });
    controller.abort();
    await expect(aborted.completed).rejects.toMatchObject({ code: "aborted" });
    expect(await aborted.cancel()).toBe(false);
    const late = await account.loginWithChatgpt({ completionTimeoutMs: 1 });
    await expect(late.completed).rejects.toMatchObject({ code: "timeout" });
    expect(await late.cancel()).toBe(false);
  });

  it("rejects invalid tokens", async () => {
    const tokens = { accessToken: "none", accountId: "acc" };
    await expect(account.loginWithTokens(tokens)).rejects.toMatchObject({ code: "request_failed" });
  });

  it("has no quotas and no usage when signed out", async () => {
    await expect(account.rateLimits()).rejects.toMatchObject({ code: "request_failed" });
    await expect(account.usage()).rejects.toMatchObject({ code: "request_failed" });
    expect(await account.sessions()).toEqual({ activeSessionId: null, sessions: [] });
  });

  it("yields the quotas of a model response, even if reading them failed before", async () => {
    await account.loginWithApiKey(API_KEY);
    const quotas = account.watchRateLimits();
    const first = quotas.next();
    const { thread } = await caller.request("thread/start", { cwd: server.workspace, ephemeral: true });
    const input: v2.UserInput[] = [{ type: "text", text: "hi", text_elements: [] }];
    await caller.request("turn/start", { threadId: thread.id, input });
    expect((await first).value).toMatchObject({
      main: { primary: { usedPercent: 12, windowDurationMins: 300 }, secondary: { usedPercent: 40 } },
    });
    await quotas.return();
    await account.logout();
  });
});

describe("a login that the user completes", () => {
  const completed = (loginId: string, success: boolean, error: string | null = null): FakeAction =>
    notify("account/login/completed", { loginId, success, error, onboardingEntrypoint: null });
  const device = {
    type: "chatgptDeviceCode",
    loginId: "mine",
    verificationUrl: "https://x",
    userCode: "ABCD",
  };

  /** Runs the test with an account on a fake server. */
  async function withFake(
    behaviour: FakeBehaviour,
    test: (account: Account, fake: ReturnType<typeof startFakeAppServer>) => Promise<void>,
  ): Promise<void> {
    await using fake = startFakeAppServer(behaviour);
    await test(new Account(peerCaller(fake.peer)), fake);
  }

  it("completes by its own id, even if the notification precedes the response", async () => {
    const early = [
      completed("another", false),
      completed("mine", true),
      { do: "reply" as const, result: device },
    ];
    await withFake({ on: { "account/login/start": early } }, async (account) => {
      const login = await account.loginWithDeviceCode();
      expect(login).toMatchObject({ userCode: "ABCD", verificationUrl: "https://x" });
      await expect(login.completed).resolves.toBeUndefined();
    });
  });

  it("fails with the server's reason", async () => {
    const late = [
      { do: "reply" as const, result: device },
      { do: "waitForGo" as const },
      completed("another", true),
      completed("mine", false, "access denied"),
    ];
    await withFake({ on: { "account/login/start": late } }, async (account, fake) => {
      const login = await account.loginWithDeviceCode();
      await fake.go();
      await expect(login.completed).rejects.toMatchObject({
        code: "request_failed",
        message: expect.stringMatching(/access denied/) as string,
      });
    });
  });

  it("rejects when the server is lost, without launching another", async () => {
    const dies = [
      { do: "reply" as const, result: device },
      { do: "waitForGo" as const },
      { do: "kill" as const, signal: "SIGKILL" as const },
    ];
    await withFake({ on: { "account/login/start": dies } }, async (account, fake) => {
      const login = await account.loginWithDeviceCode();
      await fake.go();
      await expect(login.completed).rejects.toMatchObject({ code: "app_server_crashed" });
    });
  });

  it("with tokens waits until the server has applied them", async () => {
    const taken = { do: "reply" as const, result: { type: "chatgptAuthTokens" } };
    const used = (success: boolean, error: string | null) => ({
      ...completed("", success),
      params: { loginId: null, success, error, onboardingEntrypoint: null },
    });
    const tokens = { accessToken: "t", accountId: "a" };
    await withFake({ on: { "account/login/start": [taken, used(true, null)] } }, async (account) => {
      await expect(account.loginWithTokens(tokens)).resolves.toBeUndefined();
    });
    await withFake(
      { on: { "account/login/start": [taken, used(false, "no workspace")] } },
      async (account) => {
        await expect(account.loginWithTokens(tokens)).rejects.toThrow(/no workspace/);
      },
    );
  });
});

describe("the quotas", () => {
  const update = (usedPercent: number): FakeAction =>
    notify("account/rateLimits/updated", {
      rateLimits: rateLimits({ limitId: "codex", primary: rateLimitWindow(usedPercent) }),
    });
  const read = {
    do: "reply" as const,
    result: {
      rateLimits: rateLimits({ limitId: "codex", planType: "plus", primary: rateLimitWindow(1) }),
      rateLimitsByLimitId: null,
    },
  };

  it("are merged with the updates received while they were read, until the signal aborts", async () => {
    await using fake = startFakeAppServer({
      on: { "account/rateLimits/read": [update(2), read, { do: "waitForGo" }, update(3)] },
    });
    const controller = new AbortController();
    const quotas = new Account(peerCaller(fake.peer)).watchRateLimits({ signal: controller.signal });
    expect((await quotas.next()).value).toMatchObject({
      main: { planType: "plus", primary: rateLimitWindow(2) },
    });
    await fake.go();
    expect((await quotas.next()).value).toMatchObject({
      main: { planType: "plus", primary: rateLimitWindow(3) },
    });
    const next = quotas.next();
    controller.abort();
    await expect(next).rejects.toMatchObject({ code: "aborted" });
  });

  it("end with the server", async () => {
    await using fake = startFakeAppServer({
      on: { "account/rateLimits/read": [read, { do: "waitForGo" }, { do: "exit", code: 1 }] },
    });
    const quotas = new Account(peerCaller(fake.peer)).watchRateLimits();
    await quotas.next();
    const next = quotas.next();
    await fake.go();
    await expect(next).rejects.toMatchObject({ code: "app_server_crashed" });
  });
});
