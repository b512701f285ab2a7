import { StoreError } from "@codexkit/store";
import { CodexError } from "codexkit";
import { z } from "zod";
import { createProblem, type Problem, type ProblemType, PROBLEMS } from "../api/problem.ts";
import { DaemonError } from "../errors.ts";
import { errorToProblem } from "../sessions/problems.ts";

const MAX_ERRORS = 20;
const MAX_TEXT = 500;
/** Delay after which a client should retry a request that the daemon can't handle now. */
const RETRY_SECONDS = 5;

export function problemResponse(problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers },
  });
}

/**
 * Converts an error to the problem that the client receives. `isExpected` is false for defects, which are logged with
 * all details.
 */
export function toProblem(error: unknown): { readonly problem: Problem; readonly isExpected: boolean } {
  if (error instanceof z.ZodError) return { problem: invalidInput("body", error), isExpected: true };
  if (StoreError.is(error)) {
    if (error.code === "store_full") {
      return { problem: createProblem("store_full", error.message), isExpected: true };
    }
    const problem = createProblem("store_unavailable", error.message, { retryAfter: RETRY_SECONDS });
    return { problem, isExpected: true };
  }
  if (CodexError.is(error)) return { problem: errorToProblem(error), isExpected: true };
  if (DaemonError.is(error)) {
    if (error.code === "closed") {
      return {
        problem: createProblem("draining", "The daemon is closing.", { retryAfter: RETRY_SECONDS }),
        isExpected: true,
      };
    }
    if (error.code === "command_not_found") {
      return { problem: createProblem("not_found", error.message), isExpected: true };
    }
    if (error.code in PROBLEMS && error.code !== "internal") {
      const type = error.code as ProblemType;
      return { problem: createProblem(type, error.message, error.details), isExpected: true };
    }
  }
  // The message of a defect may contain paths or parts of queries, so it is only logged.
  return {
    problem: createProblem("internal", "The daemon failed to handle the request. See its log for details."),
    isExpected: false,
  };
}

/** Creates a problem with the path of each invalid value, such as `body.budget.totalTokens`. */
export function invalidInput(part: string, error: z.ZodError): Problem {
  const issues = error.issues.flatMap(toSpecificIssues);
  const errors = issues.slice(0, MAX_ERRORS).map(({ path, message }) => ({
    path: shorten([part, ...path].join(".")),
    message: shorten(message),
  }));
  const [first] = errors;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return createProblem("bad_request", `${first?.path}: ${first?.message}${more}`, { errors });
}

/**
 * The issue of a union only says that no alternative matches. The issues of the closest alternative say what to change.
 */
function toSpecificIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
  if (!closest || closest.length === 0) return [issue];
  return closest.flatMap((inner) => toSpecificIssues({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Quotes text from a client for use in a message. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

/** Problems repeat parts of the request, which can be as large as its body. */
function shorten(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
