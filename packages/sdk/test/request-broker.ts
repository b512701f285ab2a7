import type { ServerRequests } from "@codexkit/protocol";
import type { RequestFailure } from "@codexkit/rpc";
import { sampleRequests, waitingCall } from "./server-requests.ts";
import type { ServerRequestHandlers } from "../src/requests/handlers.ts";
import type { RequestEvent } from "../src/requests/request-events.ts";
import {
  ServerRequestBroker,
  type ServerRequestBrokerOptions,
} from "../src/requests/server-request-broker.ts";

export type Method = keyof ServerRequests;

export function openBroker(
  handlers: ServerRequestHandlers | readonly ServerRequestHandlers[] = {},
  options: Partial<ServerRequestBrokerOptions> = {},
): {
  broker: ServerRequestBroker;
  events: RequestEvent[];
  receive: (method: Method, id?: number, params?: unknown) => Promise<unknown>;
} {
  const events: RequestEvent[] = [];
  const sets = Array.isArray(handlers) ? handlers : [handlers];
  const broker = new ServerRequestBroker({
    handlersFor: () => sets as ServerRequestHandlers[],
    emit: (event) => events.push(event),
    itemsOf: () => [waitingCall({ amount: 3 }), waitingCall({}, "other")],
    ...options,
  });
  const { signal } = new AbortController();
  return {
    broker,
    events,
    receive: (method, id = 0, params = sampleRequests[method]) =>
      broker.receive({ id, method, params }, signal),
  };
}

export async function settle(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: RequestFailure) => `failed: ${error.message}`);
}

export function types(events: readonly RequestEvent[]): string[] {
  return events.map(({ type }) => type);
}
