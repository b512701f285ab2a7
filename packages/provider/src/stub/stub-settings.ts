import { z } from "zod";
import { ProviderError } from "../contract/provider-error.ts";

/** What a stub does with its task. */
export const STUB_BEHAVIOURS = [
  /** Works, opens a pull request and says where it is. */
  "succeed-with-pr",
  /** Can't get the sources, and says so. */
  "fail-on-clone",
  /** Begins and never ends by itself: until `stop`, the deadline, the signal or the shutdown. */
  "hang-then-timeout",
  /** Claims success without a word or a deed. */
  "silent-fail",
  /** Runs one tool that takes long and tells of its progress. */
  "slow-tool",
  /** Calls the model again and again, and pays for it. */
  "cost-overrun",
  /** Breaks off in the middle of a tool with the error `provider_failed`. */
  "mid-stream-error",
  /** Says again what is injected, and ends after the last injection it waits for. */
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

/** How a stub behaves; the same can be given to one session, as its spec's `providerConfig`. */
export interface StubSettings {
  /** Default `succeed-with-pr`. */
  readonly behaviour?: StubBehaviour | undefined;
  /** The address that `succeed-with-pr` tells. */
  readonly pullRequest?: string | undefined;
  /** How long the tool of `slow-tool` takes. Default 5. */
  readonly toolSeconds?: number | undefined;
  /** How often `cost-overrun` calls the model. Default 100. */
  readonly modelCalls?: number | undefined;
  /** What a call of the model costs. Default 0.01, for `cost-overrun` 1. */
  readonly usdPerCall?: number | undefined;
  /** How many injections `inject-test` waits for. Default 1. */
  readonly injections?: number | undefined;
}

/**
 * The provider's settings with those of one spec over them.
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
