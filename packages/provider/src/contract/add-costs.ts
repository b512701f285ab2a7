import type { AgentCost } from "./agent-event.ts";

/** Adds costs, such as those of several attempts at one task. A value that no cost has stays absent. */
export function addCosts(...costs: readonly AgentCost[]): AgentCost {
  const total: { -readonly [Key in keyof AgentCost]: AgentCost[Key] } = {};
  for (const cost of costs) {
    for (const key of Object.keys(cost) as (keyof AgentCost)[]) {
      const value = cost[key];
      if (value !== undefined) total[key] = (total[key] ?? 0) + value;
    }
  }
  // Avoids floating-point artefacts in sums of cents.
  if (total.usd !== undefined) total.usd = Math.round(total.usd * 1e9) / 1e9;
  return total;
}
