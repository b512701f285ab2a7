import { withTimeout } from "@codexkit/rpc/async";
import { type Check, NotRun } from "./harness/check.ts";
import type { CheckReport } from "./harness/conformance-report.ts";
import type { SuiteContext } from "./harness/suite-context.ts";
import { collectUnhandled } from "./harness/unhandled-errors.ts";
import { describeError, failure } from "./harness/assertions.ts";
import { CheckContext } from "./harness/check-context.ts";

/** Runs one check with a time limit, and stops the sessions and providers that it opened. */
export async function runCheck(suite: SuiteContext, check: Check): Promise<CheckReport> {
  const { id, tier, title } = check;
  const began = performance.now();
  const { signal, only } = suite.options;
  const skipped = signal?.aborted ? "the run was aborted before this check" : "the check was not selected";
  const isSkipped = signal?.aborted === true || only?.includes(id) === false;
  const outcome: Outcome = isSkipped
    ? { status: "not_verified", reason: skipped }
    : await outcomeOf(suite, check);
  if (outcome.status === "failed") await suite.replaceProvider().catch(() => {});
  return { id, tier, title, ...outcome, tookMs: Math.round(performance.now() - began) };
}

type Outcome = Pick<CheckReport, "status" | "reason">;

async function outcomeOf(suite: SuiteContext, check: Check): Promise<Outcome> {
  const { value: outcome, errors } = await collectUnhandled(() => judge(suite, check));
  const [error] = errors;
  if (errors.length === 0 || outcome.status === "failed") return outcome;
  return { status: "failed", reason: `an unhandled error: ${describeError(error)}` };
}

async function judge(suite: SuiteContext, check: Check): Promise<Outcome> {
  let outcome: Outcome;
  let context: CheckContext | undefined;
  let isTimedOut = false;
  const { checkMs } = suite.limits;
  try {
    context = new CheckContext(suite, await suite.provider(), check.id);
    await withTimeout(check.run(context), checkMs, () => {
      isTimedOut = true;
      return failure(`the check took longer than ${checkMs} ms`);
    });
    outcome = { status: "passed" };
  } catch (error) {
    const status = error instanceof NotRun ? error.status : "failed";
    outcome = { status, reason: describeError(error) };
  }
  if (isTimedOut) await (async () => suite.options.onCheckTimeout?.(check.id))().catch(() => {});
  const left = await context?.release();
  // The first failure is more useful than the failures that follow from it.
  return left !== undefined && outcome.status !== "failed" ? { status: "failed", reason: left } : outcome;
}
