import { UNANSWERED } from "@codexkit/rpc";
import { SERVER_REQUEST_METHODS } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleRequests } from "./server-requests.ts";
import type { RequestEvent } from "../src/requests/request-events.ts";
import { ServerRequestBroker } from "../src/requests/server-request-broker.ts";

const approvals = SERVER_REQUEST_METHODS.filter((method) => /approval$/i.test(method));

const step = fc.record({
  id: fc.nat({ max: 2 }),
  what: fc.constantFrom(
    "ask",
    "accept",
    "throw",
    "nonsense",
    "pass",
    "resolved",
    "turnEnded",
    "connectionEnded",
    "abort",
    "wait",
  ),
});

/** The event for each way to end a request. The first answer wins. */
const endings: Record<string, string> = {
  accept: "handler",
  throw: "default",
  nonsense: "default",
  pass: "default",
  resolved: "otherClient",
  turnEnded: "withdrawn",
  connectionEnded: "withdrawn",
  abort: "withdrawn",
};

describe("any order of requests, answers, resolutions and ends", () => {
  it("sends at most one answer per request, and exactly one event about its end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...approvals),
        fc.array(step, { maxLength: 30 }),
        async (method, steps) => {
          const events: RequestEvent[] = [];
          const handlers = new Map<unknown, PromiseWithResolvers<never>>();
          const broker = new ServerRequestBroker({
            handlersFor: () => [
              {
                approve: (_approval, { requestId }) => {
                  const handler = Promise.withResolvers<never>();
                  handlers.set(requestId, handler);
                  return handler.promise;
                },
              },
            ],
            emit: (event) => events.push(event),
          });
          const connection = new AbortController();
          const answers: { id: number; answer: Promise<unknown> }[] = [];
          for (const { id, what } of steps) {
            const handler = handlers.get(id);
            if (what === "ask") {
              const params = sampleRequests[method];
              answers.push({ id, answer: broker.receive({ id, method, params }, connection.signal) });
            } else if (what === "throw") handler?.reject(new Error("broken"));
            else if (what === "resolved") broker.resolved({ requestId: id });
            else if (what === "turnEnded") broker.turnEnded("t1", "u1");
            else if (what === "connectionEnded") broker.connectionEnded();
            else if (what === "abort") connection.abort();
            else if (what === "wait") await new Promise(setImmediate);
            else handler?.resolve(what as never);
          }
          broker.connectionEnded();
          // Every await ends, whatever the handlers do.
          const settled = await Promise.all(
            answers.map(async ({ id, answer }) => ({ id, sent: await answer })),
          );
          expect(broker.pendingCount).toBe(0);

          const begun = events.filter(({ type }) => type === "approval.requested");
          const ended = events.filter((event) => event.type === "approval.resolved");
          expect(ended).toHaveLength(begun.length);
          const sent = settled.filter((one) => one.sent !== UNANSWERED);
          const decided = ended.filter(({ outcome }) => ["handler", "default"].includes(outcome.by));
          expect(sent.map(({ id }) => String(id)).toSorted()).toEqual(
            decided.map(({ requestId }) => String(requestId)).toSorted(),
          );
          for (const { outcome } of ended) expect(Object.values(endings)).toContain(outcome.by);
          // Requests and resolutions alternate per ID: none is presented twice while it is pending.
          for (const id of [0, 1, 2]) {
            const own = events.flatMap((event) =>
              "requestId" in event && event.requestId === id ? [event.type] : [],
            );
            expect(own).toEqual(
              own.map((_, index) => (index % 2 === 0 ? "approval.requested" : "approval.resolved")),
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
