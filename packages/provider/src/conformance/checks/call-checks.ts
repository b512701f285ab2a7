import { isDeepStrictEqual } from "node:util";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { type AgentCapabilities, TOOL_PERMISSION_FORMATS } from "../../contract/capabilities.ts";
import { type Check, notVerified } from "../harness/check.ts";
import { checkEnding, checkStream } from "../harness/stream-rules.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import { describeError, assertThat, waitFor } from "../harness/assertions.ts";

const tier = "event-contract";

/** Every capability, with a test for its value. */
const CAPABILITIES: { readonly [Key in keyof AgentCapabilities]: (value: unknown) => boolean } = {
  supportsMessageInjection: isBoolean,
  supportsSessionResume: isBoolean,
  supportsSessionExport: isBoolean,
  supportsToolPlugins: isBoolean,
  needsBaseInstructions: isBoolean,
  needsPermissionConfig: isBoolean,
  supportsCodeIntelligenceEnforcement: isBoolean,
  emitsSubagentEvents: isBoolean,
  supportsReasoningEffort: isBoolean,
  toolPermissionFormat: (value) => (TOOL_PERMISSION_FORMATS as readonly unknown[]).includes(value),
  acceptsAllowedToolsList: isBoolean,
  acceptsMcpServerSpec: isBoolean,
  humanLabel: isName,
};

/** Invalid specs, one per kind of mistake. */
const FAULTS: readonly (readonly [string, object])[] = [
  ["a spec without a prompt", { prompt: undefined }],
  ["a spec with an empty prompt", { prompt: "" }],
  ["a spec with a relative cwd", { cwd: "somewhere" }],
  ["a spec with an unknown field", { conformance: true }],
  ["a spec with a prompt that is not a string", { prompt: 1 }],
  ["a spec with maxTurns: 0", { maxTurns: 0 }],
  ["a spec with a fractional maxTokens", { maxTokens: 0.5 }],
  ["a spec with a negative timeoutMs", { timeoutMs: -1 }],
  ["a spec with an unknown sandboxLevel", { sandboxLevel: "none" }],
  ["a spec with an unknown effort", { effort: "maximal" }],
  ["a spec with an environment variable that is not a string", { env: { A: 1 } }],
  ["a spec with an MCP server without a command", { mcpStdioServers: [{ name: "a" }] }],
  ["a spec that requires an unknown field", { required: ["conformance"] }],
];

/** Checks of the provider itself: its capabilities, its calls, and its shutdown. */
export const CALL_CHECKS: readonly Check[] = [
  {
    id: "has-name",
    tier,
    title: "has a name",
    run: async ({ provider: { name } }) => assertThat(isName(name), "the name is empty"),
  },
  {
    id: "capabilities-complete",
    tier,
    title: "declares every capability, each with a valid value",
    run: async ({ provider: { capabilities } }) => {
      for (const [key, isValid] of Object.entries(CAPABILITIES)) {
        assertThat(Object.hasOwn(capabilities, key), `the capability ${key} is missing`);
        const value: unknown = capabilities[key as keyof AgentCapabilities];
        assertThat(isValid(value), `the capability ${key} has the invalid value ${JSON.stringify(value)}`);
      }
      const unknown = Object.keys(capabilities).filter((key) => !Object.hasOwn(CAPABILITIES, key));
      assertThat(unknown.length === 0, `unknown capabilities: ${unknown.join(", ")}`);
    },
  },
  {
    id: "capabilities-constant",
    tier,
    title: "has the same name and capabilities over time and in every instance",
    run: async (context) => {
      const { name } = context.provider;
      const before = { ...context.provider.capabilities };
      await (await context.spawn(context.scenarios.says(context.nonce()))).readToEnd();
      assertThat(isDeepStrictEqual({ ...context.provider.capabilities }, before), "the capabilities changed");
      const other = await context.freshProvider();
      assertThat(other.name === name, `a second provider of the same factory is named "${other.name}"`);
      assertThat(
        isDeepStrictEqual({ ...other.capabilities }, before),
        "a second provider of the same factory has different capabilities",
      );
    },
  },
  ...forSpawnAndResume([
    {
      id: "invalid-spec-refused",
      tier,
      title: "refuses an invalid spec with invalid_spec",
      earns: true,
      run: async (context, openedBy) => {
        const past = openedBy === "resume" ? await context.endedSession() : "";
        for (const [what, fault] of FAULTS) {
          const spec = { ...context.scenarios.works(), ...fault } as AgentSpec;
          await context.expectRefusal(what, ["invalid_spec"], () =>
            openedBy === "spawn" ? context.provider.spawn(spec) : context.provider.resume(past, spec),
          );
        }
      },
    },
    {
      id: "spec-untouched",
      tier,
      title: "does not modify the spec",
      run: async (context, openedBy) => {
        const spec = { ...context.scenarios.works(), env: { A: "1" }, allowedTools: ["Bash"] };
        const copy = structuredClone(spec);
        const session = await context.open(openedBy, spec);
        await session.stop();
        assertThat(isDeepStrictEqual(spec, copy), "the spec was modified");
      },
    },
    {
      id: "shutdown-during-open",
      tier,
      title: "rejects, or ends with provider_shutdown, a session that is being opened during shutdown()",
      run: async (context, openedBy) => {
        const provider = await context.freshProvider();
        const spec = context.scenarios.works();
        const past = openedBy === "resume" ? await context.endedSession(provider) : "";
        const opening = context.track(
          openedBy === "spawn" ? provider.spawn(spec) : provider.resume(past, spec),
        );
        const settled = opening.then(
          (handle) => ({ handle }),
          (error: unknown) => ({ error }),
        );
        await waitFor("shutdown()", context.limits.shutdownMs, provider.shutdown());
        const opened = await waitFor(`${openedBy}() during a shutdown`, context.limits.spawnMs, settled);
        if ("error" in opened) {
          const { code } = opened.error as { code?: unknown };
          assertThat(
            code === "shut_down",
            () => `it should reject with "shut_down", but rejected with: ${describeError(opened.error)}`,
          );
          return;
        }
        const session = await context.observe(opened.handle, spec, openedBy).readToEnd();
        checkEnding(session, "error provider_shutdown");
        checkStream(session);
      },
    },
  ]),
  {
    id: "key-spawns-once",
    tier,
    title: "starts one session per idempotency key, and refuses the key for a different spec",
    run: async (context) => {
      const [idempotencyKey, other] = [context.nonce(), context.nonce()];
      const spec = context.scenarios.says(context.nonce());
      const [first, second] = await Promise.all([
        context.spawn(spec, { idempotencyKey }),
        context.spawn({ ...spec }, { idempotencyKey }),
      ]);
      const id = first.handle.sessionId;
      assertThat(
        second.handle.sessionId === id,
        "two concurrent calls with the same key started two sessions",
      );
      await first.readToEnd();
      const later = await context.spawn(spec, { idempotencyKey });
      assertThat(later.handle.sessionId === id, "a later call with the same key started a second session");
      const different = await context.spawn(spec, { idempotencyKey: other });
      assertThat(different.handle.sessionId !== id, "a different key returned the same session");
      await context.expectRefusal("a key that was used for a different spec", ["idempotency_conflict"], () =>
        context.provider.spawn(context.scenarios.works(), { idempotencyKey }),
      );
    },
  },
  {
    id: "refuses-after-shutdown",
    tier,
    title: "refuses every call with shut_down after shutdown()",
    earns: true,
    run: async (context) => {
      const provider = await context.freshProvider();
      await waitFor("shutdown()", context.limits.shutdownMs, provider.shutdown());
      const spec = context.scenarios.works();
      await context.expectRefusal("spawn() after the shutdown", ["shut_down"], () => provider.spawn(spec));
      // A provider without the capability may reject with that first.
      const codes = ["shut_down", "unsupported"];
      await context.expectRefusal("resume() after the shutdown", codes, () =>
        provider.resume(crypto.randomUUID(), spec),
      );
      await context.expectRefusal("export() after the shutdown", codes, () =>
        provider.export(crypto.randomUUID()),
      );
      await context.expectRefusal("import() after the shutdown", codes, () =>
        provider.import(new Uint8Array(1)),
      );
    },
  },
  {
    id: "dispose-shuts-down",
    tier,
    title: "is shut down by disposing it",
    run: async (context) => {
      const provider = await context.freshProvider();
      const session = await context.spawn(context.scenarios.works(), {}, provider);
      await waitFor("disposing", context.limits.shutdownMs, (async () => provider[Symbol.asyncDispose]())());
      await session.readToEnd();
      checkEnding(session, "error provider_shutdown");
      await context.expectRefusal("spawn() after disposing", ["shut_down"], () =>
        provider.spawn(context.scenarios.works()),
      );
    },
  },
  {
    id: "shutdown-leaves-nothing",
    tier,
    title: "leaves no process, file or socket after shutdown()",
    run: async (context) => {
      const { scenarios } = context;
      if (!scenarios.leaks) throw notVerified("there is no scenario `leaks`");
      const provider = await context.freshProvider();
      await (await context.spawn(scenarios.says(context.nonce()), {}, provider)).readToEnd();
      await (await context.spawn(scenarios.works(), {}, provider)).stop();
      const abort = new AbortController();
      const cancelled = await context.spawn(scenarios.works(), { signal: abort.signal }, provider);
      abort.abort();
      await cancelled.readToEnd();
      const gone = context.track(provider.spawn(scenarios.works(), { signal: AbortSignal.timeout(1) }));
      await waitFor(
        "spawn() with a signal that aborts early",
        context.limits.spawnMs,
        gone.catch(() => undefined),
      );
      await context.spawn(scenarios.works(), {}, provider);
      await waitFor("shutdown()", context.limits.shutdownMs, provider.shutdown());
      const left = await waitFor("leaks()", context.limits.callMs, (async () => scenarios.leaks?.() ?? [])());
      assertThat(left.length === 0, `remaining after shutdown(): ${left.join(", ")}`);
    },
  },
];

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}
