// A self-hosted registry with its rendezvous, at which executors register and through which harnesses reach them.
import "../require-node.ts";
import type { RegistryOptions } from "./options.ts";
import type { Registry } from "./registry.ts";
import { startRegistryWith } from "./start-registry.ts";

/**
 * Starts a registry and its rendezvous.
 *
 * @example
 * await using registry = await startRegistry({ store: "./registry", port: 4400 });
 * const { token } = await registry.tokens.create({ name: "box", scopes: ["execute"], environmentId: "box" });
 */
export async function startRegistry(options: RegistryOptions = {}): Promise<Registry> {
  return startRegistryWith(options, {});
}

export type { Registry, RegistryTokens } from "./registry.ts";
export type { RegistryLogLevel, RegistryOptions } from "./options.ts";
export { REGISTRY_LIMITS, type RegistryLimits } from "./limits.ts";

// Tokens and environments.
export type { NewRegistryToken, RegistryScope, RegistryTokenInfo } from "./store/token-store.ts";
export type { RegisteredEnvironment } from "./store/registration-store.ts";

// The commands `registry …` for a program with commander.
export { registryCommands } from "./commands/registry-commands.ts";
