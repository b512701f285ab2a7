import { z } from "zod";
import { type ApprovalOffer, approvalOffer, type InboxRequest, policyVerdict } from "../api/approval.ts";
import type { ParkedProgress } from "../inbox/parked-inbox.ts";

const nullableText = z.string().nullable();
const position = z.int().nonnegative();

/** The fields of a request that are used. Fields of Codex's own types are kept unchanged. */
const request = z.discriminatedUnion("kind", [
  z.looseObject({
    kind: z.literal("command"),
    action: z.string(),
    command: nullableText,
    cwd: nullableText,
    reason: nullableText,
  }),
  z.looseObject({
    kind: z.literal("fileChange"),
    reason: nullableText,
    grantRoot: nullableText,
    changes: z.array(z.looseObject({ path: z.string(), kind: z.string(), diff: z.string() })).nullable(),
  }),
  z.looseObject({
    kind: z.literal("permissions"),
    cwd: z.string(),
    reason: nullableText,
    permissions: z.looseObject({}),
  }),
  z.looseObject({ kind: z.literal("mcpTool"), server: z.string(), tool: nullableText, message: z.string() }),
  z.looseObject({
    kind: z.literal("userInput"),
    questions: z.array(z.looseObject({ id: z.string() })),
    isBlocking: z.boolean(),
  }),
  z.looseObject({
    kind: z.literal("elicitation"),
    server: z.string(),
    mode: z.string(),
    message: z.string(),
    url: nullableText,
  }),
]) satisfies z.ZodType<{ kind: InboxRequest["kind"] }>;

const names = z.array(z.string()).optional();

const progress = z.strictObject({
  rootBytes: position.optional(),
  reason: z.enum(["crash", "drain", "memory", "request"]).optional(),
  openCalls: names,
  startedItems: names,
  wasSubmitted: z.boolean().optional(),
  strategy: z.enum(["inject", "rewind", "report"]).optional(),
  action: z.enum(["begun", "done"]).optional(),
  output: z.unknown().optional(),
  isContinued: z.boolean().optional(),
  isRemembered: z.boolean().optional(),
  cutBytes: position.optional(),
} satisfies Record<keyof ParkedProgress, z.ZodType>);

/**
 * The meaning of the daemon's own offers, by ID. Otherwise, a file could label the acceptance of a command "decline".
 */
const OFFERS: Readonly<Record<string, Pick<ApprovalOffer, "accepts" | "scope">>> = {
  accept: { accepts: true, scope: "call" },
  acceptForSession: { accepts: true, scope: "session" },
  acceptWithPrefix: { accepts: true, scope: "always" },
  acceptAlways: { accepts: true, scope: "always" },
  allowHost: { accepts: true, scope: "always" },
  denyHost: { accepts: false, scope: "always" },
  decline: { accepts: false, scope: "call" },
  cancel: { accepts: false, scope: "call" },
};

const offer = approvalOffer.refine(({ id, accepts, scope }) => {
  const meaning = OFFERS[/^(?:allowHost|denyHost)(?=:)/.exec(id)?.[0] ?? id];
  return meaning?.accepts === accepts && meaning.scope === scope;
}, "This is not an offer of a daemon.");

/** Schemas of the JSON columns of an approval. */
export const approvalSchemas = {
  requestId: z.union([z.string(), z.number()]),
  request,
  verdict: policyVerdict,
  offers: z.array(offer),
  answer: z.looseObject({ type: z.enum(["decision", "answers", "elicitation"]) }),
  progress,
} as const;
