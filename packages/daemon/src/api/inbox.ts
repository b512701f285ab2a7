import { z } from "zod";
import { approvalOffer, type InboxRequest, policyVerdict } from "./approval.ts";
import { timestamp } from "./parameters.ts";

export const approvalState = z
  .enum(["open", "answered", "delivered", "parked", "withdrawn", "expired"])
  .meta({
    id: "ApprovalState",
    description:
      "open: waits for an answer. answered: has one, Codex does not know it yet. delivered: Codex has it. parked: waits without a process, and can be answered. An answered one whose `parkedAt` is set is delivered when all requests of its turn have answers. withdrawn: its turn ended, or another client answered. expired: no answer came in time.",
  });

const inboxKind = z.enum(["command", "fileChange", "permissions", "mcpTool", "userInput", "elicitation"]);

const inboxRequest = z
  .looseObject({ kind: inboxKind })
  .meta({ id: "InboxRequest" }) as unknown as z.ZodType<InboxRequest>;

/** An approval, permission request, question or form of a session or one of its agents. */
export const approval = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    threadId: z.string(),
    turnId: z.string().nullable(),
    itemId: z.string().nullable(),
    kind: inboxKind,
    request: inboxRequest.meta({ description: "What is asked, with the changes of files or the command." }),
    verdict: policyVerdict.nullable(),
    offers: z.array(approvalOffer),
    state: approvalState,
    answer: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The answer, without the text of secret answers. Null until there is one." }),
    answeredBy: z.string().nullable().meta({ description: "Who answered: the ID of a token." }),
    answeredByName: z
      .string()
      .nullable()
      .meta({ description: "The name of that token when it answered; of a browser, with its device." }),
    answeredAt: timestamp.nullable(),
    parkedAt: timestamp.nullable().meta({ description: "Since when no process waits for the answer." }),
    note: z.string().nullable(),
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof approval>;
