import { z } from "zod";

/**
 * Problem types (RFC 9457) and their HTTP statuses. A type is a relative URI reference. docs/daemon.md explains each
 * type.
 */
export const PROBLEMS = {
  bad_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  path_not_allowed: 400,
  unknown_model: 400,
  unauthorized: 401,
  forbidden: 403,
  host_not_allowed: 403,
  origin_not_allowed: 403,
  file_access_denied: 403,
  read_only: 403,
  not_found: 404,
  method_not_allowed: 405,
  session_not_found: 404,
  approval_not_found: 404,
  file_not_found: 404,
  thread_not_found: 404,
  already_answered: 409,
  key_reused: 409,
  turn_running: 409,
  turn_not_running: 409,
  files_unavailable: 409,
  wrong_file_type: 409,
  session_deleted: 410,
  not_writer: 409,
  precondition_failed: 412,
  writer_locked: 409,
  thread_in_use: 409,
  threads_unavailable: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  unprocessable: 422,
  thread_unreadable: 422,
  upgrade_required: 426,
  rate_limited: 429,
  too_many_sessions: 429,
  too_many_waiting: 429,
  too_many_images: 429,
  too_many_terminals: 429,
  too_many_connections: 429,
  internal: 500,
  codex_failed: 502,
  draining: 503,
  store_unavailable: 503,
  node_lost: 503,
  node_unavailable: 503,
  store_full: 507,
  disk_full: 507,
  rollout_too_large: 507,
  timeout: 504,
} as const;

export type ProblemType = keyof typeof PROBLEMS;

export const problem = z
  .object({
    type: z.enum(Object.keys(PROBLEMS) as [ProblemType, ...ProblemType[]]),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    /** For `bad_request`: the location of each error in the input. */
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .catchall(z.unknown())
  .meta({ id: "Problem" });

export type Problem = z.infer<typeof problem>;

const TITLES: Partial<Record<ProblemType, string>> = {
  bad_request: "The request is invalid",
  invalid_json: "The body is not JSON",
  invalid_cursor: "The cursor is invalid",
  path_not_allowed: "The folder is not allowed",
  unauthorized: "A valid token is required",
  forbidden: "The token does not have the required scope",
  already_answered: "Already answered",
  key_reused: "The idempotency key was used for another request",
  body_too_large: "The body is too large",
  internal: "Internal error",
  draining: "The daemon accepts no commands",
  store_unavailable: "The store can't be reached",
  store_full: "The disk of the store is full",
  node_lost: "The session's node is lost",
  node_unavailable: "The session's node can't be reached",
  too_many_waiting: "Too many sessions wait for a node",
};

export function createProblem(
  type: ProblemType,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): Problem {
  const title = TITLES[type] ?? sentenceCase(type);
  return { ...members, type, title, status: PROBLEMS[type], detail };
}

/** `turn_not_running` → `Turn not running`. */
function sentenceCase(type: string): string {
  const words = type.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
