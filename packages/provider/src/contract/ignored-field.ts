import type { AgentSpec, SpecField } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";

/** The receipt for a field that was set and is not honoured. */
export interface IgnoredField {
  readonly field: SpecField;
  /** Why, in words for the author of the spec. */
  readonly reason: string;
}

/**
 * Holds a provider to what the spec marks as required.
 * @throws {ProviderError} `unsupported` when a required field would be ignored.
 */
export function refuseIgnored(
  provider: string,
  spec: Pick<AgentSpec, "required">,
  ignored: readonly IgnoredField[],
): void {
  const refused = ignored.filter(({ field }) => spec.required?.includes(field));
  if (refused.length === 0) return;
  const reasons = refused.map(({ field, reason }) => `${field} (${reason})`).join("; ");
  throw new ProviderError(
    "unsupported",
    `The provider "${provider}" can't honour what the spec requires: ${reasons}. Drop it from \`required\` or use another provider.`,
  );
}
