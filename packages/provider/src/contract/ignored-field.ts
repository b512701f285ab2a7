import type { AgentSpec, SpecField } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";

/** A field of the spec that is not honoured. */
export interface IgnoredField {
  readonly field: SpecField;
  /** Why it is not honoured. */
  readonly reason: string;
}

/**
 * Rejects specs whose required fields would be ignored.
 * @throws {ProviderError} `unsupported`
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
    `The provider "${provider}" can't honour required fields: ${reasons}. Remove them from \`required\` or use another provider.`,
  );
}
