import type { DecisionScope } from "@codexkit/approvals";
import type { v2 } from "codexkit";
import { z } from "zod";

const decision = z.enum(["allow", "ask", "deny"]);

const commandSegment = z
  .object({
    command: z.string(),
    /** Index of the segment that runs this one, or -1 for a command of the script itself. */
    parent: z.int(),
    decision,
    reason: z.string(),
    rule: z.string(),
  })
  .meta({ id: "CommandSegment" });

/** The session policy's verdict on a request, with every command that would run. */
export const policyVerdict = z
  .object({ decision, reason: z.string(), rule: z.string(), segments: z.array(commandSegment) })
  .meta({ id: "PolicyVerdict" });
export type PolicyVerdict = z.infer<typeof policyVerdict>;

/** A decision that can be chosen. */
export const approvalOffer = z
  .object({
    /** Name of the decision, unique among the offers of one approval. */
    id: z.string(),
    label: z.string(),
    /** Whether the request is granted. */
    accepts: z.boolean(),
    /**
     * How long the decision is remembered. `call`: for this request only (a granted permission lasts until the end of
     * the turn). `always`: changes the configuration in the daemon's Codex home.
     */
    scope: z.enum(["call", "session", "always"]) satisfies z.ZodType<DecisionScope>,
    /** What is remembered, such as the prefix of later commands, or null. */
    stores: z.string().nullable(),
  })
  .meta({ id: "ApprovalOffer" });
export type ApprovalOffer = z.infer<typeof approvalOffer>;

/** A request as stored in the inbox. */
export type InboxRequest =
  | {
      readonly kind: "command";
      /** `writeStdin` is input for a running command. `command` shows it like this: `write_stdin --session-id 4 'yes'`. */
      readonly action: string;
      readonly command: string | null;
      readonly cwd: string | null;
      /** The model's justification. */
      readonly reason: string | null;
      readonly network: v2.NetworkApprovalContext | null;
      readonly additionalPermissions: v2.AdditionalPermissionProfile | null;
    }
  | {
      readonly kind: "fileChange";
      readonly reason: string | null;
      readonly grantRoot: string | null;
      /** Null if Codex did not report any. */
      readonly changes:
        | readonly { readonly path: string; readonly kind: string; readonly diff: string }[]
        | null;
    }
  | {
      readonly kind: "permissions";
      readonly cwd: string;
      readonly reason: string | null;
      readonly permissions: v2.RequestPermissionProfile;
    }
  | {
      readonly kind: "mcpTool";
      readonly server: string;
      readonly tool: string | null;
      readonly title: string | null;
      readonly description: string | null;
      readonly arguments: unknown;
      readonly message: string;
    }
  | {
      readonly kind: "userInput";
      readonly questions: readonly v2.ToolRequestUserInputQuestion[];
      readonly isBlocking: boolean;
    }
  | {
      readonly kind: "elicitation";
      readonly server: string;
      readonly mode: string;
      readonly message: string;
      /** JSON Schema of the form, if `mode` is `form`. */
      readonly schema: unknown;
      /** The URL to visit, if `mode` is `url`. */
      readonly url: string | null;
    };
export type InboxKind = InboxRequest["kind"];

const paths = z.array(z.string().min(1).max(4096)).max(256);

/**
 * An answer to an inbox entry: `decision` for approvals, `answers` for questions, `elicitation` for forms of MCP
 * servers.
 */
export const inboxAnswer = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("decision"),
      /** `id` of the chosen offer. */
      offer: z.string().min(1).max(256),
      /** Shown in the audit trail. */
      reason: z.string().max(10_000).optional(),
      /** Grants only a part of the requested permissions. */
      grant: z
        .strictObject({
          network: z.boolean().optional(),
          read: paths.optional(),
          write: paths.optional(),
        })
        .optional(),
    }),
    z.strictObject({
      type: z.literal("answers"),
      /** Labels of the chosen options, or free text, by question ID. */
      answers: z.record(
        z.string(),
        z.union([z.string().max(100_000), z.array(z.string().max(100_000)).max(64)]),
      ),
    }),
    z.strictObject({
      type: z.literal("elicitation"),
      action: z.enum(["accept", "decline", "cancel"]),
      content: z.unknown().optional(),
    }),
  ])
  .meta({
    id: "InboxAnswer",
    examples: [
      { type: "decision", offer: "accept" },
      { type: "answers", answers: { colour: ["blue"] } },
      { type: "elicitation", action: "accept", content: { name: "Ann" } },
    ],
  });
export type InboxAnswer = z.infer<typeof inboxAnswer>;

const ANSWER_TYPES: Readonly<Record<InboxKind, InboxAnswer["type"]>> = {
  command: "decision",
  fileChange: "decision",
  permissions: "decision",
  mcpTool: "decision",
  userInput: "answers",
  elicitation: "elicitation",
};

/** Returns why an answer does not fit the approval, or undefined if it does. */
export function checkAnswer(
  { request, offers }: { readonly request: InboxRequest; readonly offers: readonly ApprovalOffer[] },
  answer: InboxAnswer,
): string | undefined {
  const expected = ANSWER_TYPES[request.kind];
  if (answer.type !== expected) {
    return `A request of kind "${request.kind}" requires an answer of type "${expected}", not "${answer.type}".`;
  }
  if (answer.type === "decision") {
    const offer = offers.find(({ id }) => id === answer.offer);
    if (!offer)
      return `Unknown offer "${answer.offer}". Available offers: ${offers.map(({ id }) => id).join(", ")}.`;
    if (answer.grant && (request.kind !== "permissions" || !offer.accepts))
      return "Only an accepted permission request can have a grant.";
  }
  if (answer.type === "answers" && request.kind === "userInput") {
    const known = new Set(request.questions.map(({ id }) => id));
    const unknown = Object.keys(answer.answers).filter((id) => !known.has(id));
    if (unknown.length > 0)
      return `Unknown questions: ${unknown.join(", ")}. Available questions: ${[...known].join(", ")}.`;
  }
  if (answer.type === "elicitation" && request.kind === "elicitation" && answer.action === "accept") {
    return checkForm(request.schema, answer.content);
  }
  return undefined;
}

function checkForm(schema: unknown, content: unknown): string | undefined {
  if (schema === null || schema === undefined) return undefined;
  let form: z.ZodType;
  try {
    form = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    // An MCP server may send a schema that zod does not support. Codex forwards the content without checking it.
    return undefined;
  }
  const parsed = form.safeParse(content ?? {});
  return parsed.success ? undefined : `The content does not match the form: ${z.prettifyError(parsed.error)}`;
}
