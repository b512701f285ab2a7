import { withTimeout } from "@codexkit/rpc/async";
import { type Check, NotRun } from "./check.ts";
import type { CheckReport } from "./conformance-report.ts";
import type { Stage } from "./stage.ts";
import { collectUnhandled } from "./unhandled-errors.ts";
import { describeError, failure } from "./within.ts";
import { Workbench } from "./workbench.ts";

/** Runs one check to its end, whatever the provider does, and ends what it left. */
export async function runCheck(stage: Stage, check: Check): Promise<CheckReport> {
  const { id, tier, title } = check;
  const began = performance.now();
  const { signal, only } = stage.options;
  const skipped = signal?.aborted ? "the run was aborted before it" : "it was not selected";
  const isSkipped = signal?.aborted === true || only?.includes(id) === false;
  const outcome: Outcome = isSkipped
    ? { status: "not_verified", reason: skipped }
    : await outcomeOf(stage, check);
  if (outcome.status === "failed") await stage.replaceProvider().catch(() => {});
  return { id, tier, title, ...outcome, tookMs: Math.round(performance.now() - began) };
}

type Outcome = Pick<CheckReport, "status" | "reason">;

async function outcomeOf(stage: Stage, check: Check): Promise<Outcome> {
  const { value: outcome, errors } = await collectUnhandled(() => judge(stage, check));
  const [error] = errors;
  if (errors.length === 0 || outcome.status === "failed") return outcome;
  return { status: "failed", reason: `an error that nothing handled: ${describeError(error)}` };
}

async function judge(stage: Stage, check: Check): Promise<Outcome> {
  let outcome: Outcome;
  let bench: Workbench | undefined;
  let isTimedOut = false;
  const { checkMs } = stage.limits;
  try {
    bench = new Workbench(stage, await stage.provider(), check.id);
    await withTimeout(check.run(bench), checkMs, () => {
      isTimedOut = true;
      return failure(`the check took longer than ${checkMs} ms`);
    });
    outcome = { status: "passed" };
  } catch (error) {
    const status = error instanceof NotRun ? error.status : "failed";
    outcome = { status, reason: describeError(error) };
  }
  if (isTimedOut) await (async () => stage.options.onCheckTimeout?.(check.id))().catch(() => {});
  const left = await bench?.release();
  // What made a check fail is the better reason than what followed from it.
  return left !== undefined && outcome.status !== "failed" ? { status: "failed", reason: left } : outcome;
}
