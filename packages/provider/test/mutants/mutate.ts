// Functions that turn a conforming provider into a mutant.
import type {
  AgentEvent,
  AgentHandle,
  AgentProvider,
  AgentSpec,
  ProviderError,
  SpawnOptions,
} from "../../src/index.ts";
import type { ConformanceLimits } from "../../src/conformance/index.ts";
import type { ReferenceProvider } from "../reference-provider.ts";

export type Mutation = (provider: ReferenceProvider) => AgentProvider;

/** A fault, and the check that must detect it. */
export interface Mutant {
  /** The fault, as the end of the sentence "a provider that …". */
  readonly fault: string;
  readonly mutate: Mutation;
  /** The id of the check that fails. */
  readonly caughtBy: string;
  /** Matches the reason of the failure. */
  readonly reason: RegExp;
  /** Checks to run first. Checks that judge every stream need one that reads the faulty stream. */
  readonly after?: readonly string[];
  /** Short limits, for a mutant that never answers. */
  readonly limits?: Partial<ConformanceLimits>;
}

/** How a session was opened. */
export interface Opening {
  readonly openedBy: "spawn" | "resume";
  readonly spec: AgentSpec;
  readonly options: SpawnOptions;
}

export const HANGS: Partial<ConformanceLimits> = {
  spawnMs: 300,
  sessionMs: 300,
  stopMs: 300,
  callMs: 300,
  shutdownMs: 300,
};

/** The provider with some members replaced. */
export function override(provider: AgentProvider, changes: Partial<AgentProvider>): AgentProvider {
  const shutdown = changes.shutdown ?? (() => provider.shutdown());
  return {
    name: provider.name,
    capabilities: provider.capabilities,
    spawn: (spec, options) => provider.spawn(spec, options),
    resume: (id, spec, options) => provider.resume(id, spec, options),
    export: (id) => provider.export(id),
    import: (bytes) => provider.import(bytes),
    [Symbol.asyncDispose]: () => shutdown(),
    ...changes,
    shutdown,
  };
}

/** The handle with some members replaced. */
export function overrideHandle(handle: AgentHandle, changes: Partial<AgentHandle>): AgentHandle {
  const stop = changes.stop ?? ((options) => handle.stop(options));
  return {
    sessionId: handle.sessionId,
    ignored: handle.ignored,
    events: handle.events,
    inject: (text, options) => handle.inject(text, options),
    [Symbol.asyncDispose]: () => stop(),
    ...changes,
    stop,
  };
}

/** Replaces members of the provider. */
export function overriding(change: (provider: ReferenceProvider) => Partial<AgentProvider>): Mutation {
  return (provider) => override(provider, change(provider));
}

type ChangeHandle = (handle: AgentHandle, opening: Opening, provider: ReferenceProvider) => AgentHandle;

/** Changes the handles of sessions that are opened in this way. Default: both. */
export function handles(change: ChangeHandle, only?: Opening["openedBy"]): Mutation {
  return (provider) =>
    override(provider, {
      spawn: async (spec, options = {}) => {
        const handle = await provider.spawn(spec, options);
        return only === "resume" ? handle : change(handle, { openedBy: "spawn", spec, options }, provider);
      },
      resume: async (id, spec, options = {}) => {
        const handle = await provider.resume(id, spec, options);
        return only === "spawn" ? handle : change(handle, { openedBy: "resume", spec, options }, provider);
      },
    });
}

/** Replaces members of the handles of sessions that are opened in this way. */
export function overridingHandles(
  change: (...args: Parameters<ChangeHandle>) => Partial<AgentHandle>,
  only?: Opening["openedBy"],
): Mutation {
  return handles((handle, ...rest) => overrideHandle(handle, change(handle, ...rest)), only);
}

type ChangeEvent = (event: AgentEvent, opening: Opening) => readonly unknown[];

/** Replaces each event by others. */
export function events(change: ChangeEvent, only?: Opening["openedBy"]): Mutation {
  return handles(
    (handle, opening) =>
      overrideHandle(handle, { events: mapEvents(handle.events, (event) => change(event, opening)) }),
    only,
  );
}

/** Replaces the events of one kind. */
export function ofKind<Kind extends AgentEvent["kind"]>(
  kind: Kind,
  change: (event: Extract<AgentEvent, { kind: Kind }>, opening: Opening) => readonly unknown[],
  only?: Opening["openedBy"],
): Mutation {
  return events(
    (event, opening) =>
      event.kind === kind ? change(event as Extract<AgentEvent, { kind: Kind }>, opening) : [event],
    only,
  );
}

/** Changes the spec before the conforming provider receives it. */
export function specs(change: (spec: AgentSpec, openedBy: Opening["openedBy"]) => AgentSpec): Mutation {
  return (provider) =>
    override(provider, {
      spawn: (spec, options) => provider.spawn(change(spec, "spawn"), options),
      resume: (id, spec, options) => provider.resume(id, change(spec, "resume"), options),
    });
}

/** Replaces the errors with which the conforming provider refuses to spawn. */
export function changingSpawnErrors(
  change: (error: ProviderError, options: SpawnOptions) => unknown,
): Mutation {
  return overriding((provider) => ({
    spawn: async (spec, options = {}) => {
      try {
        return await provider.spawn(spec, options);
      } catch (error) {
        throw change(error as ProviderError, options);
      }
    },
  }));
}

/** The provider with other capabilities, which may have wrong types. */
export function changingCapabilities(changes: object): Mutation {
  return (provider) => override(provider, { capabilities: { ...provider.capabilities, ...changes } });
}

/** Changes the options of calls, such as their signal. */
export function callOptions(
  change: (options: SpawnOptions, openedBy: Opening["openedBy"]) => SpawnOptions,
): Mutation {
  return (provider) =>
    override(provider, {
      spawn: (spec, options = {}) => provider.spawn(spec, change(options, "spawn")),
      resume: (id, spec, options = {}) => provider.resume(id, spec, change(options, "resume")),
    });
}

/** Maps a stream. Keeps a single reader, the order of reads, and stopping early. */
export function mapEvents(
  inner: AsyncIterable<AgentEvent>,
  change: (event: AgentEvent) => readonly unknown[],
): AsyncIterable<AgentEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = inner[Symbol.asyncIterator]();
      const queue: AgentEvent[] = [];
      const take = async (): Promise<IteratorResult<AgentEvent>> => {
        for (;;) {
          const value = queue.shift();
          if (value !== undefined) return { done: false, value };
          const next = await reader.next();
          if (next.done === true) return next;
          queue.push(...(change(next.value) as readonly AgentEvent[]));
        }
      };
      let last: Promise<unknown> = Promise.resolve();
      return {
        next: () => {
          const next = last.then(take);
          last = next.catch(() => {});
          return next;
        },
        return: async () => {
          queue.length = 0;
          return (await reader.return?.()) ?? { done: true, value: undefined };
        },
      };
    },
  };
}

export const never = <Value>(): Promise<Value> => new Promise<Value>(() => {});
