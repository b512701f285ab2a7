import {
  type Command,
  type CommandBody,
  type DaemonClient,
  DaemonClientError,
} from "@codexkit/daemon/client";
import { storedValue } from "../settings/local-store.ts";
import { Outbox, type OutgoingMessage, parseOutgoing, type SendOutcome } from "./outbox.ts";

type Listener = (messages: readonly OutgoingMessage[]) => void;

interface Entry {
  readonly outbox: Outbox;
  readonly listeners: Set<Listener>;
}

/** One outbox per session and page, so that sending continues when another session is shown. */
const entries = new Map<string, Entry>();

/** How long a request waits for the outcome of a steering message. If the turn has ended, the message is queued instead. */
const STEER_WAIT_MS = 5000;

/** Returns the outbox of a session. Its messages are stored for their author only. Calls the listener immediately and after each change. */
export function outboxOf(
  owner: string,
  sessionId: string,
  client: DaemonClient,
  listener: Listener,
): { readonly outbox: Outbox; readonly unsubscribe: () => void } {
  const entry = entries.get(sessionId) ?? createEntry(owner, sessionId, client);
  entries.set(sessionId, entry);
  entry.listeners.add(listener);
  listener(entry.outbox.messages);
  return { outbox: entry.outbox, unsubscribe: () => entry.listeners.delete(listener) };
}

function createEntry(owner: string, sessionId: string, client: DaemonClient): Entry {
  const listeners = new Set<Listener>();
  const outbox = new Outbox({
    stored: storedValue(`outbox.${owner}.${sessionId}`, parseOutgoing),
    send: async (message) => sendMessage(client, sessionId, message),
    createKey: () => createKey(),
    onChange: (messages) => {
      for (const listener of listeners) listener(messages);
    },
  });
  return { outbox, listeners };
}

async function sendMessage(
  client: DaemonClient,
  sessionId: string,
  { key, text, images, mode }: OutgoingMessage,
): Promise<SendOutcome> {
  try {
    const command: Command = await client.send(sessionId, toInput(text, images), {
      mode,
      idempotencyKey: key,
      ...(mode === "steer" && { wait: STEER_WAIT_MS }),
    });
    return { type: "accepted", command };
  } catch (error) {
    // The message waits if the token has expired, which a login renews, or if the daemon is restarting.
    if (!DaemonClientError.is(error) || error.status === 401 || error.status >= 500 || !error.problem) {
      return { type: "unreachable" };
    }
    return { type: "refused", problem: error.problem };
  }
}

function toInput(text: string, images: OutgoingMessage["images"]): CommandBody<"message">["input"] {
  if (images.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...images.map(({ imageId }) => ({ type: "uploadedImage" as const, imageId })),
  ];
}

/** `crypto.randomUUID` exists only in secure contexts. A page served over HTTP on a local network is not secure. */
function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
