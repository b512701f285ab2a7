import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import type { PromptSession } from "../session/session.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Context passed to a completion checker. */
export interface CompletionContext {
  readonly session: PromptSession;
  readonly workspace: Workspace | undefined;
  /** The thread's folder. */
  readonly cwd: string;
  /** The agent's final message. */
  readonly text: string;
}

export type CompletionVerdict =
  | { readonly complete: true }
  /** Not complete: the feedback is sent to the agent, which continues. */
  | { readonly complete: false; readonly feedback: string };

/** Decides whether the task is complete when the agent stops. */
export interface CompletionChecker {
  check(context: CompletionContext): CompletionVerdict | Promise<CompletionVerdict>;
}

/**
 * Runs a checker.
 * @throws {PromptError} `invalid_definition` for an invalid verdict, which must not count as complete
 */
export async function checkCompletion(
  checker: CompletionChecker,
  context: CompletionContext,
): Promise<CompletionVerdict> {
  const verdict: unknown = await checker.check(context);
  if (!isVerdict(verdict)) {
    throw new PromptError(
      "invalid_definition",
      `A completion checker must return { complete: true } or { complete: false, feedback: "…" }, got ${JSON.stringify(verdict)}.`,
    );
  }
  return verdict;
}

function isVerdict(value: unknown): value is CompletionVerdict {
  if (typeof value !== "object" || value === null || !("complete" in value)) return false;
  return (
    value.complete === true || (value.complete === false && "feedback" in value && isString(value.feedback))
  );
}

/** Complete if all files exist. Relative paths start at the thread's folder. */
export function filesExist(...paths: readonly string[]): CompletionChecker {
  return {
    check: ({ cwd }) => {
      const missing = paths.filter((path) => !existsSync(resolve(cwd, path)));
      if (missing.length === 0) return { complete: true };
      return { complete: false, feedback: `These files are missing: ${missing.join(", ")}. Create them.` };
    },
  };
}

/** Complete if all checkers report completion. Otherwise, the feedback of the others is combined. */
export function allOf(...checkers: readonly CompletionChecker[]): CompletionChecker {
  return {
    check: async (context) => {
      const feedback = await collectFeedback(checkers, context);
      return feedback.length === 0
        ? { complete: true }
        : { complete: false, feedback: feedback.join("\n\n") };
    },
  };
}

/** Complete if at least one checker reports completion. */
export function anyOf(...checkers: readonly CompletionChecker[]): CompletionChecker {
  return {
    check: async (context) => {
      const feedback = await collectFeedback(checkers, context);
      if (feedback.length < checkers.length) return { complete: true };
      return { complete: false, feedback: `Do one of these:\n\n${feedback.join("\n\n")}` };
    },
  };
}

async function collectFeedback(
  checkers: readonly CompletionChecker[],
  context: CompletionContext,
): Promise<readonly string[]> {
  const verdicts = await Promise.all(checkers.map((checker) => checkCompletion(checker, context)));
  return verdicts.flatMap((verdict) => (verdict.complete ? [] : [verdict.feedback]));
}
