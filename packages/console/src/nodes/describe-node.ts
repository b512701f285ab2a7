import type { Node } from "@codexkit/daemon/client";
import { formatDuration } from "../ui/format.ts";

export const STATES: Readonly<Record<Node["state"], string>> = {
  up: "up",
  draining: "draining",
  lost: "lost",
};

/**
 * Describes when the lease ends or ended. The clocks may differ: a node that is up has renewed its lease, even if it seems to
 * have ended.
 */
export function describeLease(
  { state, leaseUntil }: Pick<Node, "state" | "leaseUntil">,
  now: number,
): string {
  const left = leaseUntil - now;
  const duration = formatDuration(Math.max(1_000, Math.round(Math.abs(left) / 1_000) * 1_000));
  if (state === "lost") return `ended ${duration} ago`;
  return left > 0 ? `renewed, ${duration} left` : "being renewed";
}
