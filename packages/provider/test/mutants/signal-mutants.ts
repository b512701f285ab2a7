import { failedResult, ProviderError } from "../../src/index.ts";
import { callOptions, changingSpawnErrors, HANGS, type Mutant, ofKind, overriding } from "./mutate.ts";

/** Faults in the handling of signals. */
export const SIGNAL_MUTANTS: readonly Mutant[] = [
  {
    fault: "ends a cancelled session with stopped",
    mutate: ofKind("error", ({ cost }) => [failedResult("stopped", "It was cancelled.", { cost })]),
    caughtBy: "abort-cancels",
    reason: /should end with "error context_cancelled", but ended with "result stopped"/,
  },
  {
    fault: "ignores the signal of a spawned session",
    mutate: callOptions((options, by) => (by === "spawn" ? { ...options, signal: undefined } : options)),
    caughtBy: "abort-cancels",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "ignores the signal of a resumed session",
    mutate: callOptions((options, by) => (by === "resume" ? { ...options, signal: undefined } : options)),
    caughtBy: "abort-cancels-resumed",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "spawns although the signal has aborted",
    mutate: callOptions((options, by) =>
      by === "spawn" && options.signal?.aborted ? { ...options, signal: undefined } : options,
    ),
    caughtBy: "aborted-before-open",
    reason: /"context_cancelled", but it was accepted/,
  },
  {
    fault: "resumes although the signal has aborted",
    mutate: callOptions((options, by) =>
      by === "resume" && options.signal?.aborted ? { ...options, signal: undefined } : options,
    ),
    caughtBy: "aborted-before-open-resumed",
    reason: /"context_cancelled", but it was accepted/,
  },
  {
    fault: "ignores a signal that aborts while the session is being opened",
    mutate: overriding((provider) => ({
      spawn: async (spec, { signal, ...options } = {}) => {
        if (signal?.aborted) throw new ProviderError("context_cancelled", "It fired.");
        const abort = new AbortController();
        const handle = await provider.spawn(spec, { ...options, signal: abort.signal });
        signal?.addEventListener("abort", () => abort.abort());
        return handle;
      },
    })),
    caughtBy: "signal-during-open",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "rejects with the signal's own reason while the session is being opened",
    mutate: changingSpawnErrors((error, { signal }) => (signal?.aborted ? signal.reason : error)),
    caughtBy: "signal-during-open",
    reason: /should reject with "context_cancelled", but rejected with: This operation was aborted/,
  },
  {
    fault: "leaves a session busy whose signal aborted while it was being resumed",
    mutate: overriding((provider) => ({
      resume: async (id, spec, options) => {
        try {
          return await provider.resume(id, spec, options);
        } catch (error) {
          if (options?.signal?.aborted) provider.world.working.add(id);
          throw error;
        }
      },
    })),
    caughtBy: "signal-during-open-resumed",
    reason: /still busy after it was stopped/,
    limits: HANGS,
  },
  {
    fault: "never removes its listener from the signal",
    mutate: callOptions((options) => {
      options.signal?.addEventListener("abort", () => {});
      return options;
    }),
    caughtBy: "signal-is-released",
    reason: /2 listeners remain on the signal/,
  },
];
