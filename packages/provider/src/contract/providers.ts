import type { AgentProvider } from "./agent-provider.ts";
import { ProviderError } from "./provider-error.ts";

/** Providers by name. Shutting it down shuts down all of them. */
export interface Providers extends AsyncDisposable {
  readonly names: readonly string[];
  /** @throws {ProviderError} `no_provider` */
  get(name: string): AgentProvider;
  shutdown(): Promise<void>;
}

/**
 * Collects providers by name. Takes ownership of them: if one could not be created, or two have the same name, the others are shut
 * down before the call rejects.
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
    // The first error is more useful to the caller than errors of the shutdown.
    await Promise.allSettled(providers.map(async (provider) => provider.shutdown()));
    throw error;
  }
}

function providersByName(providers: readonly AgentProvider[]): Providers {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  if (byName.size < providers.length) {
    const names = providers.map(({ name }) => name).join(", ");
    throw new TypeError(`Two providers have the same name: ${names}. Give each a unique name.`);
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
      const known = `Registered providers: ${names.join(", ") || "none"}.`;
      throw new ProviderError("no_provider", `There is no provider "${name}". ${known}`);
    },
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}
