import {
  type AgentEvent,
  type AgentHandle,
  errorEvent,
  failedResult,
  ProviderError,
} from "../../src/index.ts";
import type { ReferenceProvider } from "../reference-provider.ts";
import {
  handles,
  HANGS,
  mapEvents,
  type Mutant,
  type Mutation,
  never,
  ofKind,
  override,
  overrideHandle,
  overriding,
  overridingHandles,
  specs,
} from "./mutate.ts";

/** Faults in the ways in which sessions end: a stop, a reader that stops, a crash, a shutdown. */
export const END_MUTANTS: readonly Mutant[] = [
  {
    fault: "ends a stopped session with success",
    mutate: ofKind("result", ({ errorSubtype: _subtype, retryable: _retryable, ...result }) => [
      { ...result, success: true, errors: [] },
    ]),
    caughtBy: "stop-ends-stream",
    reason: /should end with "result stopped", but ended with "result success"/,
  },
  {
    fault: "never resolves stop()",
    mutate: overridingHandles(() => ({ stop: never })),
    caughtBy: "stop-ends-stream",
    reason: /stop\(\) took longer than/,
    limits: HANGS,
  },
  {
    fault: "throws in stop()",
    mutate: overridingHandles(() => ({ stop: () => Promise.reject(new Error("It does not stop.")) })),
    caughtBy: "stop-ends-stream",
    reason: /It does not stop/,
  },
  {
    fault: "ends a resumed session that is stopped with an error",
    mutate: ofKind(
      "result",
      ({ cost, success }) => [
        success
          ? { kind: "result", success, message: "", errors: [], cost }
          : errorEvent("provider_failed", "It was stopped.", cost),
      ],
      "resume",
    ),
    caughtBy: "stop-ends-stream-resumed",
    reason: /ended with "error provider_failed"/,
  },
  {
    fault: "emits nothing to a reader that starts after stop()",
    mutate: handles((handle) => {
      let isRead = false;
      let isStopped = false;
      const events: AsyncIterable<AgentEvent> = {
        [Symbol.asyncIterator]: () => {
          isRead = true;
          if (!isStopped) return handle.events[Symbol.asyncIterator]();
          return { next: () => Promise.resolve({ done: true, value: undefined }) };
        },
      };
      const stop = async (): Promise<void> => {
        isStopped = !isRead;
        await handle.stop();
      };
      return overrideHandle(handle, { events, stop });
    }),
    caughtBy: "stop-before-first-event",
    reason: /no terminal event/,
  },
  {
    fault: "rejects a second stop()",
    mutate: handles((handle) => {
      let stops = 0;
      const stop = async (): Promise<void> => {
        stops += 1;
        if (stops > 1) throw new ProviderError("session_ended", "It has ended.");
        await handle.stop();
      };
      return overrideHandle(handle, { stop });
    }),
    caughtBy: "stop-is-idempotent",
    reason: /It has ended/,
  },
  {
    fault: "is not stopped by disposing the handle",
    mutate: overridingHandles(() => ({ [Symbol.asyncDispose]: async () => {} })),
    caughtBy: "dispose-stops",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "rejects stop() after the end",
    mutate: handles((handle) => {
      let isOver = false;
      const events = mapEvents(handle.events, (event) => {
        isOver ||= event.kind === "result" && event.success;
        return [event];
      });
      const stop = async (): Promise<void> => {
        if (isOver) throw new ProviderError("session_ended", "It has ended.");
        await handle.stop();
      };
      return overrideHandle(handle, { events, stop });
    }),
    caughtBy: "stop-after-end",
    reason: /It has ended/,
  },
  {
    fault: "continues after its reader has stopped",
    mutate: overridingHandles((handle) => ({ events: sticky(handle) })),
    caughtBy: "reader-leaves",
    reason: /should be refused with "session_ended" or "unsupported"/,
  },
  {
    fault: "continues after the reader of a resumed session has stopped",
    mutate: overridingHandles((handle) => ({ events: sticky(handle) }), "resume"),
    caughtBy: "reader-leaves-resumed",
    reason: /should be refused with "session_ended" or "unsupported"/,
  },
  {
    fault: "continues after its reader has stopped before the first event",
    mutate: overridingHandles((handle) => ({ events: sticky(handle, true) })),
    caughtBy: "reader-leaves-early",
    reason: /should be refused with "session_ended" or "unsupported"/,
  },
  {
    fault: "emits the text of one session in another",
    mutate: (provider) => {
      const texts: string[] = [];
      return ofKind("assistant_text", (event) => {
        texts.push(event.text);
        return [{ ...event, text: texts.join(" ") + event.text }];
      })(provider);
    },
    caughtBy: "sessions-are-isolated",
    reason: /events of another session/,
  },
  {
    fault: "gives all sessions the same id",
    mutate: overridingHandles(() => ({ sessionId: "the one" }), "spawn"),
    caughtBy: "sessions-are-isolated",
    reason: /two handles have the same session/,
  },
  {
    fault: "stops all sessions when one is stopped",
    mutate: handles((handle, _opening, provider) => {
      const stop = async (): Promise<void> => {
        for (const one of provider.live.values()) await one.stop();
        await handle.stop();
      };
      return overrideHandle(handle, { stop });
    }),
    caughtBy: "sessions-are-isolated",
    reason: /should end with "error context_cancelled", but ended with "result stopped"/,
  },
  {
    fault: "reports a crash of its agent as provider_failed",
    mutate: ofKind("error", ({ cost }) => [errorEvent("provider_failed", "It failed.", cost)]),
    caughtBy: "crash-ends-handles",
    reason: /should end with "error app_server_crashed"/,
  },
  {
    fault: "does not spawn after its agent crashed",
    mutate: afterCrash((provider) => provider.shutdown()),
    caughtBy: "crash-ends-handles",
    reason: /was shut down/,
  },
  {
    fault: "does not end resumed sessions when their agent crashes",
    mutate: overridingHandles(
      (handle) => ({
        events: mapEvents(handle.events, (event) =>
          event.kind === "error" && event.code === "app_server_crashed" ? [] : [event],
        ),
      }),
      "resume",
    ),
    caughtBy: "crash-ends-handles-resumed",
    reason: /should end with "error app_server_crashed", but ended with "no terminal event"/,
  },
  {
    fault: "ends its sessions with stopped on shutdown",
    mutate: ofKind("error", (error) =>
      error.code === "provider_shutdown"
        ? [failedResult("stopped", "It was shut down.", { cost: error.cost })]
        : [error],
    ),
    caughtBy: "shutdown-ends-handles",
    reason: /should end with "error provider_shutdown", but ended with "result stopped"/,
  },
  {
    fault: "rejects a second shutdown()",
    mutate: (provider) => {
      let shutdowns = 0;
      return override(provider, {
        shutdown: async () => {
          shutdowns += 1;
          if (shutdowns === 2) throw new Error("It is shut down.");
          await provider.shutdown();
        },
      });
    },
    caughtBy: "shutdown-ends-handles",
    reason: /It is shut down/,
  },
  {
    fault: "does not end resumed sessions on shutdown",
    mutate: overriding((provider) => ({
      resume: async (id, spec, options) => {
        const handle = await provider.resume(id, spec, options);
        provider.live.delete(id);
        return handle;
      },
    })),
    caughtBy: "shutdown-ends-handles-resumed",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "never resolves shutdown()",
    mutate: overriding(() => ({ shutdown: never })),
    caughtBy: "shutdown-ends-handles",
    reason: /shutdown\(\) took longer/,
    limits: HANGS,
  },
  {
    fault: "has an unhandled rejection",
    mutate: handles((handle) => {
      const stop = async (): Promise<void> => {
        void Promise.reject(new Error("no listener"));
        await handle.stop();
      };
      return overrideHandle(handle, { stop });
    }),
    caughtBy: "stop-ends-stream",
    reason: /an unhandled error: no listener/,
  },
  {
    fault: "throws in a timer callback",
    mutate: overriding((provider) => ({
      shutdown: async () => {
        setImmediate(() => {
          throw new Error("no handler");
        });
        await provider.shutdown();
      },
    })),
    caughtBy: "dispose-shuts-down",
    reason: /an unhandled error: no handler/,
  },
  {
    fault: "ends a session before its deadline",
    mutate: specs((spec) => (spec.timeoutMs === undefined ? spec : { ...spec, prompt: "say early" })),
    caughtBy: "deadline-is-kept",
    reason: /should end with "result deadline_exceeded", but ended with "result success"/,
  },
];

/** A stream whose reader can stop without the session noticing. */
function sticky({ events }: AgentHandle, onlyEarly = false): AsyncIterable<AgentEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = events[Symbol.asyncIterator]();
      let hasRead = false;
      return {
        next: () => {
          hasRead = true;
          return reader.next();
        },
        return: async () =>
          onlyEarly && hasRead && reader.return ? reader.return() : { done: true, value: undefined },
      };
    },
  };
}

/** Replaces what happens when the agent crashes. */
function afterCrash(happen: (provider: ReferenceProvider) => Promise<void>): Mutation {
  return (provider) => {
    const crash = provider.crash.bind(provider);
    provider.crash = () => {
      crash();
      void happen(provider);
    };
    return override(provider, {});
  };
}
