import { AsyncQueue } from "@codexkit/rpc/async";
import type { TokenUsage, TurnResult } from "codexkit";
import type { PromptSession } from "../session/session.ts";
import type { EvaluationEvent } from "./options.ts";

/** The result of an evaluation. */
export interface EvaluationResult<Output> {
  readonly evaluationId: string;
  /** The agent's final message. */
  readonly text: string;
  /** Output of the type that the prompt's output schema defines. Undefined without a schema. */
  readonly output: Output;
  /** False if the completion checker still rejected the result after `maxContinuations`. */
  readonly isComplete: boolean;
  readonly threadId: string;
  readonly session: PromptSession;
  /** Token usage of all turns and agents. */
  readonly usage: TokenUsage;
  readonly turns: readonly TurnResult[];
  /** Path of the debug bundle, if `bundle` is set. */
  readonly bundle?: string;
}

/** Maximum number of unread events. A slower reader gets a gap. */
const MAX_UNREAD = 20_000;

/**
 * A running evaluation. Await it for the result, or iterate it for the events. Events have a single reader, end with the
 * evaluation and never throw.
 */
export class Evaluation<Output>
  implements PromiseLike<EvaluationResult<Output>>, AsyncIterable<EvaluationEvent>
{
  readonly #events = new AsyncQueue<EvaluationEvent>({
    maxSize: MAX_UNREAD,
    onDropped: (missed) => ({ type: "gap", missed }),
  });
  readonly #result: Promise<EvaluationResult<Output>>;

  constructor(run: (emit: (event: EvaluationEvent) => void) => Promise<EvaluationResult<Output>>) {
    this.#result = (async () => {
      try {
        return await run((event) => this.#events.push(event));
      } finally {
        this.#events.end();
      }
    })();
    // A program that only iterates must not crash because of an unhandled rejection.
    this.#result.catch(() => {});
  }

  /** Returns the result as a plain promise. */
  result(): Promise<EvaluationResult<Output>> {
    return this.#result;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- an Evaluation is meant to be awaited
  then<Value = EvaluationResult<Output>, Failure = never>(
    onResult?: ((result: EvaluationResult<Output>) => Value | PromiseLike<Value>) | null,
    onFailure?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#result.then(onResult, onFailure);
  }

  [Symbol.asyncIterator](): AsyncIterator<EvaluationEvent, undefined> {
    return this.#events[Symbol.asyncIterator]() as AsyncIterator<EvaluationEvent, undefined>;
  }
}
