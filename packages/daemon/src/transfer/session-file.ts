import { z } from "zod";
import { goal } from "../api/command.ts";
import { plainText, timestamp } from "../api/parameters.ts";
import { tokenUsage } from "../api/session.ts";
import { sessionSettings, sessionSetup } from "../api/settings.ts";
import { approvalSchemas } from "./approval-schemas.ts";
import { parseJson } from "./parse-json.ts";

/** Version of the file format. A daemon reads its own version and older ones. */
export const FORMAT = 1;

/** Numbering continues from the numbers in the file, and neither JavaScript nor SQLite's driver counts beyond 2^53. */
const MAX_POSITION = 2 ** 48;
const position = z.int().nonnegative().max(MAX_POSITION);
const text = z
  .string()
  .max(1_000_000_000)
  .refine((value) => !value.includes("\0"));
const id = z
  .string()
  .max(256)
  .regex(/^[\x21-\x7e]+$/);
const json = jsonOf(z.unknown());
const jsonObject = jsonOf(z.looseObject({}));
/** Used in paths. */
const fileId = z.string().regex(/^[\w-]{1,200}$/);

/**
 * The locations that Codex uses for rollout files. The file is written to this path, so no other paths are accepted.
 */
const rolloutPath = z
  .string()
  .regex(/^(?:archived_sessions|sessions\/\d{4}\/\d\d\/\d\d)\/rollout-[\w-]{1,200}\.jsonl$/);

const sessionLine = z.strictObject({
  kind: z.literal("session"),
  format: z.literal(FORMAT),
  codexVersion: z.string().max(64).nullable(),
  session: z.strictObject({
    // A replay keeps the ID and uses it in paths.
    id: z.string().regex(/^[\w-]{1,128}$/),
    threadId: fileId.nullable(),
    name: plainText(256).nullable(),
    cwd: z.string().min(1).max(4096),
    settings: sessionSettings,
    setup: sessionSetup,
    goal: goal.nullable(),
    preview: text,
    usage: jsonOf(tokenUsage).nullable(),
    archivedAt: timestamp.nullable(),
    createdAt: timestamp,
    epoch: position,
    firstSeq: position,
    mergedSeq: position,
    lastSeq: position,
    /** Names of MCP servers that were not exported because their configuration has secrets. */
    leftOut: z.array(z.string().max(256)).max(1000).optional(),
  }),
});

const eventLine = z.strictObject({
  kind: z.literal("event"),
  seq: position,
  epoch: position,
  at: timestamp,
  type: id,
  turn_id: id.nullable(),
  item_id: id.nullable(),
  data: jsonObject,
});

const itemLine = z.strictObject({
  kind: z.literal("item"),
  item: z.strictObject({
    item_id: id,
    thread_id: id,
    turn_id: id,
    kind: id,
    status: z.enum(["running", "completed", "failed", "abandoned"]),
    first_seq: position,
    last_seq: position,
    completed_seq: position.nullable(),
    preview: jsonObject,
    body_length: position,
  }),
});

const turnLine = z.strictObject({
  kind: z.literal("turn"),
  turn_id: id,
  thread_id: id,
  first_seq: position,
  last_seq: position,
  status: z.enum(["running", "completed", "failed", "interrupted"]),
  title: text,
  started_at: timestamp,
  ended_at: timestamp.nullable(),
  usage: json.nullable(),
  diff_stat: json.nullable(),
});

const approvalLine = z.strictObject({
  kind: z.literal("approval"),
  approval: z
    .strictObject({
      id,
      epoch: position,
      thread_id: id,
      turn_id: id.nullable(),
      item_id: id.nullable(),
      // Chosen by the model.
      call_id: text.nullable(),
      request_id: jsonOf(approvalSchemas.requestId),
      kind: id,
      fingerprint: text,
      request: jsonOf(approvalSchemas.request),
      verdict: jsonOf(approvalSchemas.verdict).nullable(),
      offers: jsonOf(approvalSchemas.offers),
      state: z.enum(["open", "answered", "delivered", "parked", "withdrawn", "expired"]),
      answer: jsonOf(approvalSchemas.answer).nullable(),
      answered_by: text.nullable(),
      answered_at: timestamp.nullable(),
      note: text.nullable(),
      created_at: timestamp,
      updated_at: timestamp,
      expires_at: timestamp.nullable(),
      rollout_bytes: position.nullable(),
      // Missing in files of versions without parked approvals.
      parked_at: timestamp.nullable().default(null),
      submitted_at: timestamp.nullable().default(null),
      progress: jsonOf(approvalSchemas.progress).nullable().default(null),
      answered_by_name: text.nullable().default(null),
    })
    .refine(({ kind, request }) => (JSON.parse(request) as { kind?: unknown }).kind === kind, {
      path: ["kind"],
      message: "Expected the same kind as in the request.",
    }),
});

const rolloutLine = z.strictObject({
  kind: z.literal("rollout"),
  id: fileId,
  path: rolloutPath,
  baseId: fileId.nullable(),
  role: z.enum(["main", "base", "agent"]),
  bytes: position,
});

/** A part of the rollout of the preceding line. */
const dataLine = z.strictObject({
  kind: z.literal("data"),
  base64: z.base64(),
});

/** Marks the file as complete. */
const endLine = z.strictObject({
  kind: z.literal("end"),
  lines: position,
  /** Hash of all bytes before this line. */
  sha256: z.string(),
});

/**
 * A line of an exported session. The file is JSON Lines, starting with `session` and ending with `end`. The lines in
 * between have the columns of their tables, so a change to a table's columns requires a new format.
 */
export const sessionFileLine = z.discriminatedUnion("kind", [
  sessionLine,
  eventLine,
  itemLine,
  turnLine,
  approvalLine,
  rolloutLine,
  dataLine,
  endLine,
]);
export type SessionFileLine = z.infer<typeof sessionFileLine>;
export type LineOf<Kind extends SessionFileLine["kind"]> = Extract<SessionFileLine, { kind: Kind }>;

/** Validates a text that contains JSON with a given schema. The text is kept unchanged. */
function jsonOf(form: z.ZodType) {
  return text.superRefine((value, context) => {
    let content: unknown;
    try {
      content = parseJson(value);
    } catch {
      context.addIssue("Expected JSON with a limited number of levels.");
      return;
    }
    const parsed = form.safeParse(content);
    if (!parsed.success)
      context.addIssue(`The JSON does not match the schema: ${z.prettifyError(parsed.error)}`);
  });
}
