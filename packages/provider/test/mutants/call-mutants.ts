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
    fault: "has a format of permissions that there is not",
    mutate: capable({ toolPermissionFormat: "bash" }),
    caughtBy: "capabilities-complete",
    reason: /toolPermissionFormat has the invalid value "bash"/,
  },
  {
    fault: "says yes to a capability in words",
    mutate: capable({ supportsToolPlugins: "yes" }),
    caughtBy: "capabilities-complete",
    reason: /supportsToolPlugins has the invalid value "yes"/,
  },
  {
    fault: "has a capability of its own",
    mutate: capable({ supportsDancing: true }),
    caughtBy: "capabilities-complete",
    reason: /unknown capabilities: supportsDancing/,
  },
  {
    fault: "has no label for people",
    mutate: capable({ humanLabel: " " }),
    caughtBy: "capabilities-complete",
    reason: /humanLabel has the invalid value " "/,
  },
  {
    fault: "changes its capabilities while it works",
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
    fault: "has other capabilities each time that it is made",
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
    fault: "takes specs with unknown fields",
    mutate: specs(({ ...spec }) => {
      delete (spec as { conformance?: unknown }).conformance;
      return spec;
    }),
    caughtBy: "invalid-spec-refused",
    reason: /a spec with an unknown field should be refused with "invalid_spec", but it was accepted/,
  },
  {
    fault: "takes a limit of no calls for none",
    mutate: specs(({ maxTurns, ...spec }) => (maxTurns ? { ...spec, maxTurns } : spec)),
    caughtBy: "invalid-spec-refused",
    reason: /maxTurns: 0 should be refused/,
  },
  {
    fault: "takes any spec for a session that is resumed",
    mutate: specs((spec, by) => (by === "resume" ? { prompt: "work", cwd: process.cwd() } : spec)),
    caughtBy: "invalid-spec-refused-resumed",
    reason: /should be refused with "invalid_spec", but it was accepted/,
  },
  {
    fault: "takes paths that depend on where it runs",
    mutate: specs((spec) => ({ ...spec, cwd: process.cwd() })),
    caughtBy: "invalid-spec-refused",
    reason: /a relative cwd should be refused/,
  },
  {
    fault: "changes the spec that it is given",
    mutate: specs((spec) => Object.assign(spec, { model: "another" })),
    caughtBy: "spec-untouched",
    reason: /the spec was modified/,
  },
  {
    fault: "changes lists inside of the spec",
    mutate: specs((spec) => {
      (spec.allowedTools as string[] | undefined)?.push("Edit");
      return spec;
    }),
    caughtBy: "spec-untouched",
    reason: /the spec was modified/,
  },
  {
    fault: "lets a session live that was opened while it was shut down",
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
    fault: "rejects a session that is being opened during its shutdown with an error of its own",
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
    fault: "does not know idempotency keys",
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
    fault: "takes every key for the same",
    mutate: callOptions(({ idempotencyKey, ...options }) => ({
      ...options,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: "the one" }),
    })),
    caughtBy: "key-spawns-once",
    reason: /a different key returned the same session/,
  },
  {
    fault: "takes a key for another spec",
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
    fault: "is not shut down when it is disposed of",
    mutate: overriding(() => ({ [Symbol.asyncDispose]: async () => {} })),
    caughtBy: "dispose-shuts-down",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "leaves a session behind that was given up while it was opened",
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
    fault: "does not hear what is injected",
    mutate: overridingHandles(() => ({ inject: async () => {} })),
    caughtBy: "injection-reaches-agent",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "does not hear what is injected into a resumed session",
    mutate: overridingHandles(() => ({ inject: async () => {} }), "resume"),
    caughtBy: "injection-reaches-agent-resumed",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "claims injection and refuses it",
    mutate: overridingHandles(() => ({ inject: () => Promise.reject(unsupported()) })),
    caughtBy: "injection-reaches-agent",
    reason: /It can't/,
  },
  {
    fault: "takes injections after the end",
    mutate: overridingHandles((handle) => ({
      inject: (text, options) => handle.inject(text, options).catch(() => {}),
    })),
    caughtBy: "injection-after-end",
    reason: /"session_ended", but it was accepted/,
  },
  {
    fault: "calls an injection after the end unsupported",
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
    fault: "injects although the signal has fired",
    mutate: overridingHandles((handle) => ({ inject: (text) => handle.inject(text) })),
    caughtBy: "injection-aborted",
    reason: /"context_cancelled", but it was accepted/,
  },
  {
    fault: "denies injection and takes it",
    mutate: capable({ supportsMessageInjection: false }),
    caughtBy: "injection-unsupported",
    reason: /"unsupported", but it was accepted/,
  },
  {
    fault: "forgets what was said before",
    mutate: specs((spec, by) => (by === "resume" && spec.prompt === "recall" ? say(spec, "nothing") : spec)),
    caughtBy: "resume-remembers",
    reason: /should say "nonce-/,
  },
  {
    fault: "knows only sessions of its own",
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
    fault: "does not resume what was stopped",
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
    fault: "resumes a session that is at work",
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
    fault: "makes up sessions",
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
    fault: "denies resuming and does it",
    mutate: capable({ supportsSessionResume: false }),
    caughtBy: "resume-unsupported",
    reason: /"unsupported", but it was accepted/,
  },
  {
    fault: "goes on under another id",
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
    fault: "exports sessions without their past",
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
    fault: "exports a session that is at work",
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
    fault: "exports sessions that are not there",
    mutate: overriding((provider) => ({
      export: (id) => provider.export(id).catch(() => new Uint8Array(1)),
    })),
    caughtBy: "export-unknown",
    reason: /"session_not_found", but it was accepted/,
  },
  {
    fault: "imports anything",
    mutate: overriding((provider) => ({ import: (bytes) => provider.import(bytes).catch(() => "the one") })),
    caughtBy: "import-refuses-garbage",
    reason: /"invalid_export", but it was accepted/,
  },
  {
    fault: "denies exporting and does it",
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
