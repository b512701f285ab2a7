import {
  type AgentCapabilities,
  type AgentEvent,
  type AgentProvider,
  type AgentSpec,
  failedResult,
  ProviderError,
} from "../../src/index.ts";
import {
  callOptions,
  events,
  HANGS,
  mapEvents,
  type Mutant,
  type Mutation,
  never,
  override,
  overrideHandle,
  overriding,
  overridingHandles,
  specs,
} from "./mutate.ts";

/** What is wrong with the provider itself: what it says of itself, and how it answers calls. */
export const CALL_MUTANTS: readonly Mutant[] = [
  {
    fault: "has no name",
    mutate: overriding(() => ({ name: "" })),
    caughtBy: "has-name",
    reason: /name is empty/,
  },
  {
    fault: "lacks a capability",
    mutate: (provider) => {
      const { supportsSessionExport: _export, ...capabilities } = provider.capabilities;
      return override(provider, { capabilities: capabilities as AgentCapabilities });
    },
    caughtBy: "capabilities-complete",
    reason: /supportsSessionExport is missing/,
  },
  {
    fault: "has an unknown toolPermissionFormat",
    mutate: capable({ toolPermissionFormat: "bash" }),
    caughtBy: "capabilities-complete",
    reason: /toolPermissionFormat has the invalid value "bash"/,
  },
  {
    fault: "has a string instead of a boolean as a capability",
    mutate: capable({ supportsToolPlugins: "yes" }),
    caughtBy: "capabilities-complete",
    reason: /supportsToolPlugins has the invalid value "yes"/,
  },
  {
    fault: "has an unknown capability",
    mutate: capable({ supportsDancing: true }),
    caughtBy: "capabilities-complete",
    reason: /unknown capabilities: supportsDancing/,
  },
  {
    fault: "has an empty humanLabel",
    mutate: capable({ humanLabel: " " }),
    caughtBy: "capabilities-complete",
    reason: /humanLabel has the invalid value " "/,
  },
  {
    fault: "changes its capabilities during a session",
    mutate: (provider) => {
      const capabilities = { ...provider.capabilities };
      return override(provider, {
        capabilities,
        spawn: (spec, options) => {
          capabilities.humanLabel = "Another";
          return provider.spawn(spec, options);
        },
      });
    },
    caughtBy: "capabilities-constant",
    reason: /the capabilities changed/,
  },
  {
    fault: "has other capabilities in each instance",
    mutate: (() => {
      let made = 0;
      return (provider) => {
        made += 1;
        return capable({ emitsSubagentEvents: made % 2 === 0 })(provider);
      };
    })(),
    caughtBy: "capabilities-constant",
    reason: /has different capabilities/,
  },
  {
    fault: "accepts specs with unknown fields",
    mutate: specs(({ ...spec }) => {
      delete (spec as { conformance?: unknown }).conformance;
      return spec;
    }),
    caughtBy: "invalid-spec-refused",
    reason: /a spec with an unknown field should be refused with "invalid_spec", but it was accepted/,
  },
  {
    fault: "treats maxTurns: 0 as no limit",
    mutate: specs(({ maxTurns, ...spec }) => (maxTurns ? { ...spec, maxTurns } : spec)),
    caughtBy: "invalid-spec-refused",
    reason: /maxTurns: 0 should be refused/,
  },
  {
    fault: "accepts any spec for a resumed session",
    mutate: specs((spec, by) => (by === "resume" ? { prompt: "work", cwd: process.cwd() } : spec)),
    caughtBy: "invalid-spec-refused-resumed",
    reason: /should be refused with "invalid_spec", but it was accepted/,
  },
  {
    fault: "accepts a relative cwd",
    mutate: specs((spec) => ({ ...spec, cwd: process.cwd() })),
    caughtBy: "invalid-spec-refused",
    reason: /a relative cwd should be refused/,
  },
  {
    fault: "modifies the spec",
    mutate: specs((spec) => Object.assign(spec, { model: "another" })),
    caughtBy: "spec-untouched",
    reason: /the spec was modified/,
  },
  {
    fault: "modifies lists in the spec",
    mutate: specs((spec) => {
      (spec.allowedTools as string[] | undefined)?.push("Edit");
      return spec;
    }),
    caughtBy: "spec-untouched",
    reason: /the spec was modified/,
  },
  {
    fault: "keeps a session open that was opened during its shutdown",
    mutate: (provider) => {
      let shutdown: Promise<void> | undefined;
      const opened = async <Handle>(opening: Promise<Handle>): Promise<Handle> => opening;
      return override(provider, {
        spawn: (spec, options) => opened(provider.spawn(spec, options)),
        shutdown: () =>
          (shutdown ??= new Promise((resolve) => {
            setImmediate(() => setImmediate(() => resolve()));
          })),
      });
    },
    caughtBy: "shutdown-during-open",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "rejects a session that is being opened during its shutdown with another code",
    mutate: overriding((provider) => ({
      spawn: async (spec, options) => {
        try {
          return await provider.spawn(spec, options);
        } catch (error) {
          const isShutDown = (error as ProviderError).code === "shut_down";
          throw isShutDown ? new Error("The pipe was closed.") : error;
        }
      },
    })),
    caughtBy: "shutdown-during-open",
    reason: /should reject with "shut_down", but rejected with: The pipe was closed/,
  },
  {
    fault: "ignores idempotency keys",
    mutate: callOptions(({ signal }) => ({ signal })),
    caughtBy: "key-spawns-once",
    reason: /two concurrent calls with the same key started two sessions/,
  },
  {
    fault: "forgets an idempotency key when its session has ended",
    mutate: (provider) => {
      const used = new Map<string, string>();
      return override(provider, {
        spawn: async (spec, { idempotencyKey = crypto.randomUUID(), ...options } = {}) => {
          const id = used.get(idempotencyKey) ?? idempotencyKey;
          const handle = await provider.spawn(spec, { ...options, idempotencyKey: id });
          const isOver = (event: AgentEvent): unknown[] => {
            if (event.kind === "result") used.set(idempotencyKey, crypto.randomUUID());
            return [event];
          };
          return overrideHandle(handle, { events: mapEvents(handle.events, isOver) });
        },
      });
    },
    caughtBy: "key-spawns-once",
    reason: /a later call with the same key started a second session/,
  },
  {
    fault: "treats all idempotency keys as the same",
    mutate: callOptions(({ idempotencyKey, ...options }) => ({
      ...options,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: "the one" }),
    })),
    caughtBy: "key-spawns-once",
    reason: /a different key returned the same session/,
  },
  {
    fault: "accepts a used idempotency key for a different spec",
    mutate: overriding((provider) => ({
      spawn: async (spec, options) => {
        try {
          return await provider.spawn(spec, options);
        } catch (error) {
          if ((error as ProviderError).code !== "idempotency_conflict") throw error;
          return provider.spawn(spec, { signal: options?.signal });
        }
      },
    })),
    caughtBy: "key-spawns-once",
    reason: /a key that was used for a different spec should be refused/,
  },
  {
    fault: "spawns after its shutdown",
    mutate: overriding((provider) => ({ shutdown: async () => provider.crash() })),
    caughtBy: "refuses-after-shutdown",
    reason: /spawn\(\) after the shutdown should be refused with "shut_down", but it was accepted/,
  },
  {
    fault: "exports after its shutdown",
    mutate: overriding(() => ({ export: async () => new Uint8Array(1) })),
    caughtBy: "refuses-after-shutdown",
    reason: /export\(\) after the shutdown/,
  },
  {
    fault: "imports after its shutdown",
    mutate: overriding(() => ({ import: async () => "the one" })),
    caughtBy: "refuses-after-shutdown",
    reason: /import\(\) after the shutdown/,
  },
  {
    fault: "is not shut down by disposing it",
    mutate: overriding(() => ({ [Symbol.asyncDispose]: async () => {} })),
    caughtBy: "dispose-shuts-down",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "leaks a session that was cancelled while it was being opened",
    mutate: overriding((provider) => ({
      spawn: async (spec, options) => {
        if (options?.signal && spec.prompt === "work") provider.world.working.add(`given up ${spec.prompt}`);
        return provider.spawn(spec, options);
      },
    })),
    caughtBy: "shutdown-leaves-nothing",
    reason: /remaining after shutdown\(\): session given up work/,
  },
  {
    fault: "never opens a session",
    mutate: overriding(() => ({ spawn: never })),
    caughtBy: "reports-text",
    reason: /spawn\(\) took longer/,
    limits: HANGS,
  },
  {
    fault: "ignores injected text",
    mutate: overridingHandles(() => ({ inject: async () => {} })),
    caughtBy: "injection-reaches-agent",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "ignores text injected into a resumed session",
    mutate: overridingHandles(() => ({ inject: async () => {} }), "resume"),
    caughtBy: "injection-reaches-agent-resumed",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "claims injection but rejects it",
    mutate: overridingHandles(() => ({ inject: () => Promise.reject(unsupported()) })),
    caughtBy: "injection-reaches-agent",
    reason: /It can't/,
  },
  {
    fault: "accepts injections after the end",
    mutate: overridingHandles((handle) => ({
      inject: (text, options) => handle.inject(text, options).catch(() => {}),
    })),
    caughtBy: "injection-after-end",
    reason: /"session_ended", but it was accepted/,
  },
  {
    fault: "rejects an injection after the end with unsupported",
    mutate: overridingHandles((handle) => ({
      inject: async (text, options) => {
        try {
          await handle.inject(text, options);
        } catch {
          throw unsupported();
        }
      },
    })),
    caughtBy: "injection-after-end",
    reason: /refused with the code "session_ended", but failed with: It can't/,
  },
  {
    fault: "injects although the signal has aborted",
    mutate: overridingHandles((handle) => ({ inject: (text) => handle.inject(text) })),
    caughtBy: "injection-aborted",
    reason: /"context_cancelled", but it was accepted/,
  },
  {
    fault: "accepts injection although the capability is false",
    mutate: capable({ supportsMessageInjection: false }),
    caughtBy: "injection-unsupported",
    reason: /"unsupported", but it was accepted/,
  },
  {
    fault: "forgets the conversation on resume",
    mutate: specs((spec, by) => (by === "resume" && spec.prompt === "recall" ? say(spec, "nothing") : spec)),
    caughtBy: "resume-remembers",
    reason: /should say "nonce-/,
  },
  {
    fault: "can't resume sessions of another provider",
    mutate: (provider) => {
      const own = new Set<string>();
      return override(provider, {
        spawn: async (spec, options) => {
          const handle = await provider.spawn(spec, options);
          own.add(handle.sessionId);
          return handle;
        },
        resume: async (id, spec, options) => {
          if (!own.has(id)) throw new ProviderError("session_not_found", "It is not mine.");
          return provider.resume(id, spec, options);
        },
      });
    },
    caughtBy: "resume-by-another-provider",
    reason: /It is not mine/,
  },
  {
    fault: "does not resume a stopped session",
    mutate: (provider) => {
      const stopped = new Set<string>();
      const mutant = overridingHandles((handle) => ({
        stop: async () => {
          stopped.add(handle.sessionId);
          await handle.stop();
        },
      }))(provider);
      return override(mutant, {
        resume: async (id, spec, options) => {
          if (stopped.has(id)) throw new ProviderError("session_not_found", "It was stopped.");
          return mutant.resume(id, spec, options);
        },
      });
    },
    caughtBy: "resume-after-stop",
    reason: /It was stopped/,
  },
  {
    fault: "resumes a running session",
    mutate: overriding((provider) => ({
      resume: (id, spec, options) => {
        provider.world.working.delete(id);
        return provider.resume(id, spec, options);
      },
    })),
    caughtBy: "resume-busy",
    reason: /"session_busy", but it was accepted/,
  },
  {
    fault: "resumes unknown sessions",
    mutate: overriding((provider) => ({
      resume: (id, spec, options) => {
        if (!provider.world.sessions.has(id)) provider.world.sessions.set(id, []);
        return provider.resume(id, spec, options);
      },
    })),
    caughtBy: "resume-unknown",
    reason: /"session_not_found", but it was accepted/,
  },
  {
    fault: "resumes although the capability is false",
    mutate: capable({ supportsSessionResume: false }),
    caughtBy: "resume-unsupported",
    reason: /"unsupported", but it was accepted/,
  },
  {
    fault: "continues under another session id",
    mutate: overridingHandles(() => ({ sessionId: crypto.randomUUID() }), "resume"),
    caughtBy: "resume-keeps-id",
    reason: /was resumed with the id/,
  },
  {
    fault: "counts the calls of earlier turns when a session is resumed",
    mutate: events(
      (event) =>
        "cost" in event
          ? [{ ...event, cost: { ...event.cost, turns: (event.cost.turns ?? 0) + 1 } }]
          : [event],
      "resume",
    ),
    caughtBy: "resume-resets-cost",
    reason: /took 1 model calls, but 2 after the resume/,
  },
  {
    fault: "counts earlier turns toward the limit of a resumed session",
    mutate: events(
      (event, { spec }) =>
        event.kind === "result" && spec.maxTurns === 1
          ? [failedResult("max_turns", "The calls are used up.", { cost: event.cost })]
          : [event],
      "resume",
    ),
    caughtBy: "max-turns-are-available-resumed",
    reason: /should end with "result success", but ended with "result max_turns"/,
  },
  {
    fault: "exports sessions without their history",
    mutate: overriding((provider) => ({
      export: async (sessionId) => {
        await provider.export(sessionId);
        return new TextEncoder().encode(JSON.stringify({ sessionId, prompts: [] }));
      },
    })),
    caughtBy: "export-moves-session",
    reason: /should say "nonce-/,
  },
  {
    fault: "imports a session under another id",
    mutate: overriding((provider) => ({
      import: async (bytes) => {
        await provider.import(bytes);
        return "another";
      },
    })),
    caughtBy: "export-moves-session",
    reason: /returned "another"/,
  },
  {
    fault: "can't import the same session twice",
    mutate: overriding((provider) => ({
      import: async (bytes) => {
        const before = provider.world.sessions.size;
        const id = await provider.import(bytes);
        if (provider.world.sessions.size === before) throw new ProviderError("session_busy", "It is here.");
        return id;
      },
    })),
    caughtBy: "export-moves-session",
    reason: /It is here/,
  },
  {
    fault: "exports a running session",
    mutate: overriding((provider) => ({
      export: (id) => {
        provider.world.working.delete(id);
        return provider.export(id);
      },
    })),
    caughtBy: "export-busy",
    reason: /"session_busy", but it was accepted/,
  },
  {
    fault: "exports unknown sessions",
    mutate: overriding((provider) => ({
      export: (id) => provider.export(id).catch(() => new Uint8Array(1)),
    })),
    caughtBy: "export-unknown",
    reason: /"session_not_found", but it was accepted/,
  },
  {
    fault: "imports invalid bytes",
    mutate: overriding((provider) => ({ import: (bytes) => provider.import(bytes).catch(() => "the one") })),
    caughtBy: "import-refuses-garbage",
    reason: /"invalid_export", but it was accepted/,
  },
  {
    fault: "exports although the capability is false",
    mutate: capable({ supportsSessionExport: false }),
    caughtBy: "export-unsupported",
    reason: /"unsupported", but it was accepted/,
  },
];

/** The provider with other capabilities, whatever their types. */
function capable(changes: object): Mutation {
  return (provider: AgentProvider) =>
    override(provider, { capabilities: { ...provider.capabilities, ...changes } });
}

function unsupported(): ProviderError {
  return new ProviderError("unsupported", "It can't.");
}

function say(spec: AgentSpec, words: string): AgentSpec {
  return { ...spec, prompt: `say ${words}` };
}
