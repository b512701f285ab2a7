import { isDeepStrictEqual } from "node:util";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { type AgentCapabilities, TOOL_PERMISSION_FORMATS } from "../../contract/capabilities.ts";
import { type Check, notVerified } from "../check.ts";
import { endedWith, obeysLaw } from "../law-of-the-stream.ts";
import { withTwins } from "../twins.ts";
import { describeError, holds, within } from "../within.ts";

const tier = "event-contract";

/** Every capability, and what its value may be. */
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

/** What is not a spec, in each way that a field can be wrong. */
const FAULTS: readonly (readonly [string, object])[] = [
  ["a spec without a prompt", { prompt: undefined }],
  ["a spec with an empty prompt", { prompt: "" }],
  ["a spec with a relative folder", { cwd: "somewhere" }],
  ["a spec with an unknown field", { conformance: true }],
  ["a spec with a prompt that is no text", { prompt: 1 }],
  ["a spec that permits no call of the model", { maxTurns: 0 }],
  ["a spec that permits half a token", { maxTokens: 0.5 }],
  ["a spec with a negative time limit", { timeoutMs: -1 }],
  ["a spec with an unknown level of the sandbox", { sandboxLevel: "none" }],
  ["a spec with an unknown effort", { effort: "maximal" }],
  ["a spec with a variable that is no text", { env: { A: 1 } }],
  ["a spec with a server without a command", { mcpStdioServers: [{ name: "a" }] }],
  ["a spec that requires an unknown field", { required: ["conformance"] }],
];

/** How the provider itself is called, and ended. */
export const CALL_CHECKS: readonly Check[] = [
  {
    id: "names-itself",
    tier,
    title: "has a name",
    run: async ({ provider: { name } }) => holds(isName(name), "the name is empty"),
  },
  {
    id: "capabilities-complete",
    tier,
    title: "has every capability, each with a value that it may have",
    run: async ({ provider: { capabilities } }) => {
      for (const [key, isValid] of Object.entries(CAPABILITIES)) {
        holds(Object.hasOwn(capabilities, key), `the capability ${key} is missing`);
        const value: unknown = capabilities[key as keyof AgentCapabilities];
        holds(isValid(value), `the capability ${key} can't be ${JSON.stringify(value)}`);
      }
      const unknown = Object.keys(capabilities).filter((key) => !Object.hasOwn(CAPABILITIES, key));
      holds(unknown.length === 0, `the contract has no capability ${unknown.join(", ")}`);
    },
  },
  {
    id: "capabilities-constant",
    tier,
    title: "keeps its name and capabilities while it works, and has the same each time that it is made",
    run: async (bench) => {
      const { name } = bench.provider;
      const before = { ...bench.provider.capabilities };
      await (await bench.spawn(bench.scenarios.says(bench.nonce()))).toEnd();
      holds(isDeepStrictEqual({ ...bench.provider.capabilities }, before), "the capabilities changed");
      const other = await bench.freshProvider();
      holds(other.name === name, `another provider of the same factory is called "${other.name}"`);
      holds(
        isDeepStrictEqual({ ...other.capabilities }, before),
        "another provider of the same factory has other capabilities",
      );
    },
  },
  ...withTwins([
    {
      id: "bad-spec-refused",
      tier,
      title: "refuses a spec that is none with invalid_spec",
      earns: true,
      run: async (bench, openedBy) => {
        const past = openedBy === "resume" ? await bench.pastSession() : "";
        for (const [what, fault] of FAULTS) {
          const spec = { ...bench.scenarios.works(), ...fault } as AgentSpec;
          await bench.refuses(what, ["invalid_spec"], () =>
            openedBy === "spawn" ? bench.provider.spawn(spec) : bench.provider.resume(past, spec),
          );
        }
      },
    },
    {
      id: "spec-untouched",
      tier,
      title: "does not change the spec that it is given",
      run: async (bench, openedBy) => {
        const spec = { ...bench.scenarios.works(), env: { A: "1" }, allowedTools: ["Bash"] };
        const copy = structuredClone(spec);
        const session = await bench.open(openedBy, spec);
        await session.stop();
        holds(isDeepStrictEqual(spec, copy), "the spec is another one after the call");
      },
    },
    {
      id: "shutdown-during-open",
      tier,
      title: "rejects or ends a session with provider_shutdown that is being opened when it is shut down",
      run: async (bench, openedBy) => {
        const provider = await bench.freshProvider();
        const spec = bench.scenarios.works();
        const past = openedBy === "resume" ? await bench.pastSession(provider) : "";
        const opening = bench.kept(openedBy === "spawn" ? provider.spawn(spec) : provider.resume(past, spec));
        const settled = opening.then(
          (handle) => ({ handle }),
          (error: unknown) => ({ error }),
        );
        await within("shutdown()", bench.limits.shutdownMs, provider.shutdown());
        const opened = await within(`${openedBy}() during a shutdown`, bench.limits.spawnMs, settled);
        if ("error" in opened) {
          const { code } = opened.error as { code?: unknown };
          holds(
            code === "shut_down",
            () => `it should reject with "shut_down", and did: ${describeError(opened.error)}`,
          );
          return;
        }
        const session = await bench.watch(opened.handle, spec, openedBy).toEnd();
        endedWith(session, "error provider_shutdown");
        obeysLaw(session);
      },
    },
  ]),
  {
    id: "key-spawns-once",
    tier,
    title: "starts one session for an idempotency key, and refuses the key for another spec",
    run: async (bench) => {
      const [idempotencyKey, other] = [bench.nonce(), bench.nonce()];
      const spec = bench.scenarios.says(bench.nonce());
      const [first, second] = await Promise.all([
        bench.spawn(spec, { idempotencyKey }),
        bench.spawn({ ...spec }, { idempotencyKey }),
      ]);
      const id = first.handle.sessionId;
      holds(second.handle.sessionId === id, "two calls at once with the same key started two sessions");
      await first.toEnd();
      const later = await bench.spawn(spec, { idempotencyKey });
      holds(later.handle.sessionId === id, "a later call with the same key started another session");
      const different = await bench.spawn(spec, { idempotencyKey: other });
      holds(different.handle.sessionId !== id, "another key returned the same session");
      await bench.refuses("a key that was used for another spec", ["idempotency_conflict"], () =>
        bench.provider.spawn(bench.scenarios.works(), { idempotencyKey }),
      );
    },
  },
  {
    id: "refuses-after-shutdown",
    tier,
    title: "refuses every call with shut_down once it is shut down",
    earns: true,
    run: async (bench) => {
      const provider = await bench.freshProvider();
      await within("shutdown()", bench.limits.shutdownMs, provider.shutdown());
      const spec = bench.scenarios.works();
      await bench.refuses("spawn() after the shutdown", ["shut_down"], () => provider.spawn(spec));
      // A provider that can't do it at all may say that first.
      const codes = ["shut_down", "unsupported"];
      await bench.refuses("resume() after the shutdown", codes, () =>
        provider.resume(crypto.randomUUID(), spec),
      );
      await bench.refuses("export() after the shutdown", codes, () => provider.export(crypto.randomUUID()));
      await bench.refuses("import() after the shutdown", codes, () => provider.import(new Uint8Array(1)));
    },
  },
  {
    id: "dispose-shuts-down",
    tier,
    title: "is shut down by disposing of it",
    run: async (bench) => {
      const provider = await bench.freshProvider();
      const session = await bench.spawn(bench.scenarios.works(), {}, provider);
      await within("disposing", bench.limits.shutdownMs, (async () => provider[Symbol.asyncDispose]())());
      await session.toEnd();
      endedWith(session, "error provider_shutdown");
      await bench.refuses("spawn() after disposing", ["shut_down"], () =>
        provider.spawn(bench.scenarios.works()),
      );
    },
  },
  {
    id: "nothing-is-left",
    tier,
    title: "leaves nothing behind after its shutdown: no process, file or socket",
    run: async (bench) => {
      const { scenarios } = bench;
      if (!scenarios.leaks) throw notVerified("there is no scenario `leaks`");
      const provider = await bench.freshProvider();
      await (await bench.spawn(scenarios.says(bench.nonce()), {}, provider)).toEnd();
      await (await bench.spawn(scenarios.works(), {}, provider)).stop();
      const abort = new AbortController();
      const cancelled = await bench.spawn(scenarios.works(), { signal: abort.signal }, provider);
      abort.abort();
      await cancelled.toEnd();
      const gone = bench.kept(provider.spawn(scenarios.works(), { signal: AbortSignal.timeout(1) }));
      await within(
        "spawn() with a short signal",
        bench.limits.spawnMs,
        gone.catch(() => undefined),
      );
      await bench.spawn(scenarios.works(), {}, provider);
      await within("shutdown()", bench.limits.shutdownMs, provider.shutdown());
      const left = await within("leaks()", bench.limits.callMs, (async () => scenarios.leaks?.() ?? [])());
      holds(left.length === 0, `left after the shutdown: ${left.join(", ")}`);
    },
  },
];

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}
