import type { JsonObject } from "./json.ts";
import type {
  Awaitable,
  CutPart,
  EventPart,
  HeadersPart,
  ItemPart,
  PausePart,
  TokenUsage,
  UsagePart,
  WaitPart,
} from "./part.ts";

/** Holds the stream until a gate opens, a promise settles well or a signal aborts. What came before is sent first. */
export function waitFor(until: Awaitable): WaitPart {
  return { kind: "wait", until };
}

/** Holds the stream for a time: for slow models in demos and benchmarks. Tests wait for a gate instead. */
export function pause(ms: number): PausePart {
  return { kind: "pause", ms };
}

/** Destroys the connection here, in the middle of the stream. */
export function cut(): CutPart {
  return { kind: "cut" };
}

/** The token counts that Codex is told; without it every response counts `defaultUsage`. */
export function usage(counts: TokenUsage): UsagePart {
  return { kind: "usage", usage: counts };
}

/** Extra headers on the HTTP answer (Codex reads its rate limits from `x-codex-*` headers). Comes before any output. */
export function headers(extra: Readonly<Record<string, string>>): HeadersPart {
  return { kind: "headers", headers: extra };
}

/** Any output item as it is, for what no other part covers. */
export function item(raw: JsonObject): ItemPart {
  return { kind: "item", item: raw };
}

/** Any SSE event as it is, for what no other part covers. */
export function event(raw: JsonObject & { readonly type: string }): EventPart {
  return { kind: "event", event: raw };
}
