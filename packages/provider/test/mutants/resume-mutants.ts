import { type AgentSpec, failedResult, ProviderError } from "../../src/index.ts";
import {
  changingCapabilities,
  events,
  HANGS,
  type Mutant,
  override,
  overriding,
  overridingHandles,
  specs,
} from "./mutate.ts";

/** Faults of sessions that continue: injected text, resuming, exporting and importing. */
export const RESUME_MUTANTS: readonly Mutant[] = [
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
    mutate: changingCapabilities({ supportsMessageInjection: false }),
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
    mutate: changingCapabilities({ supportsSessionResume: false }),
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
    mutate: changingCapabilities({ supportsSessionExport: false }),
    caughtBy: "export-unsupported",
    reason: /"unsupported", but it was accepted/,
  },
];

function unsupported(): ProviderError {
  return new ProviderError("unsupported", "It can't.");
}

function say(spec: AgentSpec, words: string): AgentSpec {
  return { ...spec, prompt: `say ${words}` };
}
