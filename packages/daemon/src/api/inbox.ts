import { z } from "zod";
import { approvalOffer, type InboxRequest, policyVerdict } from "./approval.ts";
import { timestamp } from "./parameters.ts";

export const approvalState = z
  .enum(["open", "answered", "delivered", "parked", "withdrawn", "expired"])
  .meta({
    id: "ApprovalState",
    description:
      "open: waits for an answer. answered: has an answer that Codex has not received yet. delivered: Codex has received the answer. parked: can be answered, but no process waits for it. An answered entry with `parkedAt` is delivered when all requests of its turn are answered. withdrawn: its turn ended, or another client answered it. expired: not answered in time.",
  });

const inboxKind = z.enum(["command", "fileChange", "permissions", "mcpTool", "userInput", "elicitation"]);

const inboxRequest = z
  .looseObject({ kind: inboxKind })
  .meta({ id: "InboxRequest" }) as unknown as z.ZodType<InboxRequest>;

/** An approval, permission request, question or form from a session or one of its agents. */
export const approval = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    threadId: z.string(),
    turnId: z.string().nullable(),
    itemId: z.string().nullable(),
    kind: inboxKind,
    request: inboxRequest.meta({ description: "The request, with its file changes or command." }),
    verdict: policyVerdict.nullable(),
    offers: z.array(approvalOffer),
    state: approvalState,
    answer: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The answer, without answers to secret questions. Null until it is answered." }),
    answeredBy: z.string().nullable().meta({ description: "ID of the token that answered." }),
    answeredByName: z.string().nullable().meta({
      description: "Name of that token at the time of the answer. For a browser, it includes the device.",
    }),
    answeredAt: timestamp.nullable(),
    parkedAt: timestamp
      .nullable()
      .meta({ description: "Time since which no process has been waiting for the answer." }),
    note: z.string().nullable(),
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof approval>;
