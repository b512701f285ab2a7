import { messageOf } from "@codexkit/rpc/async";
import { rm } from "node:fs/promises";
import { type Codex, type OptionKeys, rejectUnknownOptions } from "codexkit";
import { checkValue, isCount, isFunction, isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { PromptEvaluationError } from "../evaluate/evaluation-error.ts";
import { evaluate } from "../evaluate/evaluate.ts";
import type { EvaluationResult } from "../evaluate/evaluation.ts";
import type { EvaluateOptions } from "../evaluate/options.ts";
import type { Prompt } from "../prompt/define-prompt.ts";

/** One case of an eval. */
export interface EvalCase<Output, Expected> {
  readonly name: string;
  readonly prompt: Prompt<Output>;
  readonly expected: Expected;
  readonly options?: EvaluateOptions;
}

/** A score from 0 to 1, with an optional reason. */
export interface Score {
  readonly value: number;
  readonly reason?: string;
}

/** Scores a result. An LLM judge is a scorer that evaluates a prompt itself. */
export type Scorer<Output, Expected> = (
  result: EvaluationResult<Output>,
  expected: Expected,
) => Score | number | boolean | Promise<Score | number | boolean>;

export interface EvalOptions<Output, Expected> {
  readonly score: Scorer<Output, Expected>;
  /** Number of cases that run concurrently. Default: 4. */
  readonly concurrency?: number;
  /** Minimum score to pass a case. Default: 1. */
  readonly threshold?: number;
  /** Folder for the debug bundles of failed cases. */
  readonly bundles?: string;
  readonly signal?: AbortSignal;
  readonly onCase?: (result: EvalCaseResult) => void;
}

export interface EvalCaseResult {
  readonly name: string;
  readonly passed: boolean;
  readonly score: number;
  readonly reason?: string;
  readonly totalTokens: number;
  readonly durationMs: number;
  readonly error?: { readonly code: string; readonly message: string };
  /** Path of the debug bundle, if the case failed and `bundles` is given. */
  readonly bundle?: string;
}

export interface EvalReport {
  readonly passed: number;
  readonly failed: number;
  readonly meanScore: number;
  readonly totalTokens: number;
  readonly cases: readonly EvalCaseResult[];
  /** Formats the report as a text table. */
  toTable(): string;
}

const DEFAULT_CONCURRENCY = 4;

/**
 * Evaluates several cases and scores the results.
 *
 * @example
 * const report = await evalPrompt(codex, cases, { score: ({ output }, expected) => output.verdict === expected });
 * console.log(report.toTable());
 */
export async function evalPrompt<Output, Expected>(
  codex: Codex,
  cases: readonly EvalCase<Output, Expected>[],
  options: EvalOptions<Output, Expected>,
): Promise<EvalReport> {
  checkEvalOptions(cases, options);
  const { concurrency = DEFAULT_CONCURRENCY, onCase } = options;
  const results: EvalCaseResult[] = [];
  const pending = [...cases.entries()];
  const work = async (): Promise<void> => {
    for (let next = pending.shift(); next; next = pending.shift()) {
      options.signal?.throwIfAborted();
      const [index, one] = next;
      const result = await runCase(codex, one, options);
      results[index] = result;
      onCase?.(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, cases.length) }, work));
  return toReport(results);
}

const KNOWN: OptionKeys<EvalOptions<never, never>> = {
  score: true,
  concurrency: true,
  threshold: true,
  bundles: true,
  signal: true,
  onCase: true,
};

const KNOWN_CASE: OptionKeys<EvalCase<never, never>> = {
  name: true,
  prompt: true,
  expected: true,
  options: true,
};

function checkEvalOptions<Output, Expected>(
  cases: readonly EvalCase<Output, Expected>[],
  options: EvalOptions<Output, Expected>,
): void {
  checkValue("evalPrompt: cases", cases ?? null, "an array of cases", Array.isArray);
  rejectUnknownOptions("evalPrompt", options, KNOWN as OptionKeys<EvalOptions<Output, Expected>>);
  for (const [index, one] of cases.entries())
    rejectUnknownOptions(`evalPrompt: case ${index}`, one, KNOWN_CASE as OptionKeys<typeof one>);
  const { score, concurrency, threshold, bundles, signal } = options;
  checkValue("evalPrompt: score", score ?? null, "a function", isFunction);
  checkValue("evalPrompt: concurrency", concurrency, "a whole number of at least 1", isCount);
  checkValue("evalPrompt: threshold", threshold, "a number from 0 to 1", isShare);
  checkValue("evalPrompt: bundles", bundles, "the path of a folder", isString);
  checkValue("evalPrompt: signal", signal, "an AbortSignal", (value) => value instanceof AbortSignal);
}

function isShare(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}

async function runCase<Output, Expected>(
  codex: Codex,
  { name, prompt, expected, options: own = {} }: EvalCase<Output, Expected>,
  { score, threshold = 1, bundles, signal }: EvalOptions<Output, Expected>,
): Promise<EvalCaseResult> {
  const startedAt = performance.now();
  const signals = [signal, own.signal].filter((one) => one !== undefined);
  const settings: EvaluateOptions = {
    ...own,
    ...(bundles !== undefined && { bundle: bundles }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  };
  let result: EvaluationResult<Output> | undefined;
  try {
    result = await evaluate(codex, prompt, settings).result();
    const { value, reason } = toScore(await score(result, expected));
    const passed = value >= threshold;
    // Bundles that the case requested itself are kept.
    if (passed && bundles !== undefined && result.bundle !== undefined)
      await rm(result.bundle, { force: true });
    return {
      name,
      passed,
      score: value,
      totalTokens: result.usage.totalTokens,
      durationMs: performance.now() - startedAt,
      ...(reason !== undefined && { reason }),
      ...(!passed && result.bundle !== undefined && { bundle: result.bundle }),
    };
  } catch (error) {
    return toFailedCase(name, error, result, performance.now() - startedAt);
  }
}

/** @param result The evaluation's result, if only the scorer failed. */
function toFailedCase(
  name: string,
  error: unknown,
  result: EvaluationResult<unknown> | undefined,
  durationMs: number,
): EvalCaseResult {
  const message = messageOf(error);
  const partial = result ?? (error instanceof PromptEvaluationError ? error.partial : undefined);
  return {
    name,
    passed: false,
    score: 0,
    totalTokens: partial?.usage.totalTokens ?? 0,
    durationMs,
    error: { code: PromptError.is(error) ? error.code : "failed", message },
    ...(partial?.bundle !== undefined && { bundle: partial.bundle }),
  };
}

function toScore(score: Score | number | boolean): Score {
  const { value, reason } =
    typeof score === "object" ? score : { value: typeof score === "boolean" ? Number(score) : score };
  checkValue("The score", value ?? null, "a boolean or a number from 0 to 1", isShare);
  return reason === undefined ? { value } : { value, reason };
}

function toReport(cases: readonly EvalCaseResult[]): EvalReport {
  const passed = cases.filter((one) => one.passed).length;
  const sum = (pick: (one: EvalCaseResult) => number): number =>
    cases.reduce((total, one) => total + pick(one), 0);
  return {
    passed,
    failed: cases.length - passed,
    meanScore: cases.length === 0 ? 0 : sum(({ score }) => score) / cases.length,
    totalTokens: sum(({ totalTokens }) => totalTokens),
    cases,
    toTable: () => toTable(cases),
  };
}

function toTable(cases: readonly EvalCaseResult[]): string {
  const rows = [
    ["case", "result", "score", "tokens", "ms", "reason"],
    ...cases.map(({ name, passed, score, totalTokens, durationMs, reason, error }) => [
      JSON.stringify(name).slice(1, -1),
      passed ? "pass" : "FAIL",
      score.toFixed(2),
      String(totalTokens),
      durationMs.toFixed(0),
      (reason ?? error?.message)?.split("\n")[0] ?? "",
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
