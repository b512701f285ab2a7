import type { AgentProvider } from "./agent-provider.ts";
import { ProviderError } from "./provider-error.ts";

/** Providers by their names. Shutting it down shuts all of them down. */
export interface Providers extends AsyncDisposable {
  readonly names: readonly string[];
  /** @throws {ProviderError} `no_provider` */
  get(name: string): AgentProvider;
  shutdown(): Promise<void>;
}

/**
 * Puts providers together, for specs and settings that name one. Takes them over: if one can't be opened, or two have the same
 * name, those that were opened are shut down before the call rejects.
 *
 * @example
 * await using providers = await createProviders([
 *   CodexProvider.create(),
 *   AcpProvider.launch({ name: "my-agent", command: "my-agent" }),
 * ]);
 */
export async function createProviders(
  opening: readonly (AgentProvider | PromiseLike<AgentProvider>)[],
): Promise<Providers> {
  const settled = await Promise.allSettled(opening.map(async (one) => one));
  const providers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  try {
    const failed = settled.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
    return providersByName(providers);
  } catch (error) {
    // The caller has to know why there are no providers; how their shutdown went comes second.
    await Promise.allSettled(providers.map(async (provider) => provider.shutdown()));
    throw error;
  }
}

function providersByName(providers: readonly AgentProvider[]): Providers {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  if (byName.size < providers.length) {
    const names = providers.map(({ name }) => name).join(", ");
    throw new TypeError(`Two providers have the same name, of: ${names}. Give each a name of its own.`);
  }
  const names = [...byName.keys()];
  const shutdown = async (): Promise<void> => {
    const ended = await Promise.allSettled(providers.map(async (provider) => provider.shutdown()));
    const failed = ended.filter((end) => end.status === "rejected").map(({ reason }) => reason as unknown);
    if (failed.length > 0) throw new AggregateError(failed, "Some providers could not be shut down.");
  };
  return {
    names,
    get: (name) => {
      const provider = byName.get(name);
      if (provider) return provider;
      const known = names.length > 0 ? `There are: ${names.join(", ")}.` : "There are none.";
      throw new ProviderError("no_provider", `No provider is called "${name}". ${known}`);
    },
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}
