import { z } from "zod";
import { ProviderError } from "../contract/provider-error.ts";

/** What a stub does. */
export const STUB_BEHAVIOURS = [
  /** Opens a pull request and reports its URL. */
  "succeed-with-pr",
  /** Fails to clone the repository. */
  "fail-on-clone",
  /** Runs until `stop`, the deadline, the signal or the shutdown. */
  "hang-then-timeout",
  /** Succeeds without any output. */
  "silent-fail",
  /** Runs one slow tool and reports its progress. */
  "slow-tool",
  /** Calls the model many times, at a cost. */
  "cost-overrun",
  /** Ends during a tool with the error `provider_failed`. */
  "mid-stream-error",
  /** Repeats injected text, and ends after the last expected injection. */
  "inject-test",
] as const;

export type StubBehaviour = (typeof STUB_BEHAVIOURS)[number];

const schema = z.strictObject({
  behaviour: z.enum(STUB_BEHAVIOURS).optional(),
  pullRequest: z.url().optional(),
  toolSeconds: z.int().positive().max(86_400).optional(),
  modelCalls: z.int().positive().max(100_000).optional(),
  usdPerCall: z.number().nonnegative().optional(),
  injections: z.int().positive().optional(),
});

/** Behaviour of a stub. A spec's `providerConfig` overrides it for one session. */
export interface StubSettings {
  /** Default `succeed-with-pr`. */
  readonly behaviour?: StubBehaviour | undefined;
  /** The URL that `succeed-with-pr` reports. */
  readonly pullRequest?: string | undefined;
  /** Duration of the tool of `slow-tool`. Default: 5. */
  readonly toolSeconds?: number | undefined;
  /** Number of model calls of `cost-overrun`. Default: 100. */
  readonly modelCalls?: number | undefined;
  /** Price of a model call. Default: 0.01, for `cost-overrun` 1. */
  readonly usdPerCall?: number | undefined;
  /** Number of injections that `inject-test` waits for. Default: 1. */
  readonly injections?: number | undefined;
}

/**
 * Merges the settings of the provider with those of a spec.
 * @throws {ProviderError} `invalid_spec`
 */
export function settingsFor(own: StubSettings, providerConfig: unknown = {}): StubSettings {
  const parsed = schema.safeParse(providerConfig);
  if (parsed.success) return { ...own, ...parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  throw new ProviderError(
    "invalid_spec",
    `The stub's providerConfig takes ${Object.keys(schema.shape).join(", ")}. ${problems}`,
    { cause: parsed.error },
  );
}
