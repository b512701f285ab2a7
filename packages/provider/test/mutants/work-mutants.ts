import type { AgentEvent } from "../../src/index.ts";
import { handles, mapEvents, type Mutant, type Mutation, override, overrideHandle } from "./mutate.ts";

/** Faults of agents that continue to work after their session has ended. */
export const WORK_MUTANTS: readonly Mutant[] = [
  {
    fault: "lets an agent continue after stop()",
    mutate: worksOn({ stop: true }),
    caughtBy: "stop-ends-work",
    reason: /should be idle, but left \d+ more traces/,
  },
  {
    fault: "lets a resumed agent continue after stop()",
    mutate: worksOn({ stop: true, only: "resume" }),
    caughtBy: "stop-ends-work-resumed",
    reason: /should be idle/,
  },
  {
    fault: "lets an agent continue after its signal has aborted",
    mutate: worksOn({ signal: true }),
    caughtBy: "signal-ends-work",
    reason: /should be idle/,
  },
  {
    fault: "lets an agent continue after its reader has stopped",
    mutate: worksOn({ leave: true }),
    caughtBy: "reader-leaving-ends-work",
    reason: /should be idle/,
  },
  {
    fault: "lets an agent continue after its deadline",
    mutate: worksOn({ deadline: true }),
    caughtBy: "deadline-ends-work",
    reason: /should be idle/,
  },
  {
    fault: "lets agents continue after its shutdown",
    mutate: worksOn({ shutdown: true }),
    caughtBy: "shutdown-ends-work",
    reason: /should be idle/,
  },
];

interface WorksOn {
  readonly stop?: boolean;
  readonly signal?: boolean;
  readonly leave?: boolean;
  readonly deadline?: boolean;
  readonly shutdown?: boolean;
  readonly only?: "resume";
}

/** Adds a shadow agent that works like the session's agent and is not stopped by the given endings. */
function worksOn({ stop, signal, leave, deadline, shutdown, only }: WorksOn): Mutation {
  return (provider) => {
    const shadows = new Set<NodeJS.Timeout>();
    const rest = (shadow: NodeJS.Timeout): void => {
      clearInterval(shadow);
      shadows.delete(shadow);
    };
    // Whatever the fault, a shadow ends some time after its session, so that tests end.
    const mutant = handles((handle, { spec }) => {
      if (spec.prompt !== "trace") return handle;
      const shadow = setInterval(() => (provider.world.traces += 1), 1);
      setTimeout(() => rest(shadow), 30_000).unref();
      shadow.unref();
      shadows.add(shadow);
      const events = mapEvents(handle.events, (event) => {
        if (event.kind === "error" && event.code === "context_cancelled" && !signal) rest(shadow);
        if (event.kind === "result" && event.errorSubtype === "deadline_exceeded" && !deadline) rest(shadow);
        return [event];
      });
      const left: AsyncIterable<AgentEvent> = {
        [Symbol.asyncIterator]: () => {
          const reader = events[Symbol.asyncIterator]();
          return {
            next: () => reader.next(),
            return: async () => {
              if (!leave) rest(shadow);
              return (await reader.return?.()) ?? { done: true, value: undefined };
            },
          };
        },
      };
      return overrideHandle(handle, {
        events: left,
        stop: async () => {
          if (!stop && !signal && !leave && !deadline) rest(shadow);
          await handle.stop();
        },
      });
    }, only)(provider);
    return override(mutant, {
      shutdown: async () => {
        if (!shutdown) for (const shadow of shadows) rest(shadow);
        await mutant.shutdown();
      },
    });
  };
}
