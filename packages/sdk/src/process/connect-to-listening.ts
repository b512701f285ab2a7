import { connectWebSocket, type Transport } from "@codexkit/rpc";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { CodexError } from "../errors.ts";
import type { OwnedProcess } from "./owned-process.ts";

/** How long a server may take to listen. It usually takes 0.1 s. */
const LISTEN_LIMIT_MS = 20_000;

const LISTEN_POLL_MS = 20;

/**
 * Connects to a launched server as soon as it listens. A ws server prints its URL to stderr; a unix server prints nothing, so
 * connecting is the only test.
 */
export async function connectToListening(
  owned: OwnedProcess,
  listen: string,
  { signal, token }: { signal?: AbortSignal | undefined; token?: string | undefined } = {},
): Promise<{ url: string; transport: Transport }> {
  const until = Date.now() + LISTEN_LIMIT_MS;
  for (let cause: unknown; ; await delay(LISTEN_POLL_MS, undefined, { ref: true })) {
    if (signal?.aborted) {
      throw new CodexError("aborted", "The launch of codex was aborted.", { cause: signal.reason });
    }
    const end = await owned.endedWithin(0);
    if (end) throw new CodexError("codex_start_failed", owned.describeEnd(end), { cause });
    if (Date.now() > until) {
      throw new CodexError(
        "codex_start_failed",
        `Codex did not listen on ${listen} within ${LISTEN_LIMIT_MS} ms.`,
        {
          cause,
        },
      );
    }
    const url = listen.startsWith("ws://") ? parseListeningUrl(owned.stderrTail) : listen;
    if (url === undefined) continue;
    try {
      return { url, transport: await connectWebSocket(url, token === undefined ? {} : { token }) };
    } catch (error) {
      cause = error;
    }
  }
}

/** Finds the URL that a ws server prints when it is listening. */
function parseListeningUrl(stderr: string): string | undefined {
  return /listening on: (?<url>ws:\/\/\S+)/.exec(stripVTControlCharacters(stderr))?.groups?.["url"];
}
