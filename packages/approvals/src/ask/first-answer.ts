import type { Answer } from "./outcome.ts";

export type FirstAnswer =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "timeout" | "withdrawn" | "no-handler" };

type Asking = (signal: AbortSignal) => Promise<Answer | undefined>;

/**
 * Asks all handlers at once and takes the first answer; the signals of the others abort. A handler that throws or has
 * no answer leaves the question to the others. Ends in any case: with the last handler, the time limit or the caller.
 */
export async function firstAnswer(
  handlers: readonly Asking[],
  timeoutMs: number,
  outer?: AbortSignal,
): Promise<FirstAnswer> {
  if (outer?.aborted === true) return { kind: "withdrawn" };
  if (handlers.length === 0) return { kind: "no-handler" };
  const settled = new AbortController();
  const { promise, resolve } = Promise.withResolvers<FirstAnswer>();
  const timer = setTimeout(() => resolve({ kind: "timeout" }), timeoutMs);
  const withdraw = (): void => resolve({ kind: "withdrawn" });
  outer?.addEventListener("abort", withdraw, { once: true });
  let open = handlers.length;
  const leave = (): void => {
    open -= 1;
    if (open === 0) resolve({ kind: "no-handler" });
  };
  for (const handler of handlers) {
    handler(settled.signal).then((answer) => {
      if (isAnswer(answer)) resolve({ kind: "answer", answer });
      else leave();
    }, leave);
  }
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", withdraw);
    settled.abort();
  }
}

/** Handlers are other people's code: only a clear yes or no counts. */
function isAnswer(answer: Answer | undefined): answer is Answer {
  return answer?.decision === "allow" || answer?.decision === "deny";
}
