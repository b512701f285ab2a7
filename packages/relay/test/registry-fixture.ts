// A registry with tokens, and a wait for its state.
import { tempFolder } from "@codexkit/testing";
import type { Registry } from "../src/registry/registry.ts";
import type { RegistryOptions } from "../src/registry/options.ts";
import { type RegistryInternals, startRegistryWith } from "../src/registry/start-registry.ts";
import { vi } from "vitest";

export interface TestRegistry extends AsyncDisposable {
  readonly registry: Registry;
  readonly url: string;
  /** Lines of the audit log. */
  readonly audit: readonly string[];
  token(scope: "execute" | "connect" | "admin" | "metrics", environmentId?: string): Promise<string>;
}

export const ENVIRONMENT = "env_1";

/** A registry on a free port. Its store is a temporary folder unless the options name one. */
export async function startTestRegistry(
  options: RegistryOptions = {},
  internals: RegistryInternals = {},
): Promise<TestRegistry> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await tempFolder("registry"));
  const audit: string[] = [];
  const registry = stack.use(
    await startRegistryWith(
      { store: folder.path, port: 0, logger: "silent", ...options },
      { auditDestination: { write: (line) => void audit.push(line) }, ...internals },
    ),
  );
  const owner = stack.move();
  return {
    registry,
    url: registry.url,
    audit,
    token: async (scope, environmentId = ENVIRONMENT) =>
      (await registry.tokens.create({ name: scope, scopes: [scope], environmentId })).token,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Waits until an executor of the environment is connected. */
export async function waitForExecutor(
  { registry }: TestRegistry,
  environmentId = ENVIRONMENT,
): Promise<void> {
  await vi.waitFor(
    async () => {
      const environments = await registry.listEnvironments();
      if (!environments.some((entry) => entry.environmentId === environmentId && entry.online > 0)) {
        throw new Error("No executor has connected yet.");
      }
    },
    { timeout: 20_000, interval: 20 },
  );
}
