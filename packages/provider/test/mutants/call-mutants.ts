import type { AgentCapabilities, AgentEvent, ProviderError } from "../../src/index.ts";
import {
  callOptions,
  changingCapabilities,
  changingSpawnErrors,
  HANGS,
  mapEvents,
  type Mutant,
  never,
  override,
  overrideHandle,
  overriding,
  specs,
} from "./mutate.ts";

/** Faults of the provider itself: its capabilities, spec validation, idempotency keys and shutdown. */
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
    mutate: changingCapabilities({ toolPermissionFormat: "bash" }),
    caughtBy: "capabilities-complete",
    reason: /toolPermissionFormat has the invalid value "bash"/,
  },
  {
    fault: "has a string instead of a boolean as a capability",
    mutate: changingCapabilities({ supportsToolPlugins: "yes" }),
    caughtBy: "capabilities-complete",
    reason: /supportsToolPlugins has the invalid value "yes"/,
  },
  {
    fault: "has an unknown capability",
    mutate: changingCapabilities({ supportsDancing: true }),
    caughtBy: "capabilities-complete",
    reason: /unknown capabilities: supportsDancing/,
  },
  {
    fault: "has an empty humanLabel",
    mutate: changingCapabilities({ humanLabel: " " }),
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
    fault: "has different capabilities in each instance",
    mutate: (() => {
      let made = 0;
      return (provider) => {
        made += 1;
        return changingCapabilities({ emitsSubagentEvents: made % 2 === 0 })(provider);
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
    mutate: changingSpawnErrors((error) =>
      error.code === "shut_down" ? new Error("The pipe was closed.") : error,
    ),
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
];
