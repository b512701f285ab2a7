import { toError } from "./errors.ts";

/** Runs a listener. Its failure, thrown or rejected later, must not reach the read loop or end the process. */
export function runListener(listener: () => unknown, onFailure: (error: Error) => void): void {
  const failed = (thrown: unknown): void => onFailure(toError(thrown));
  try {
    const returned = listener();
    if (returned instanceof Promise) returned.catch(failed);
  } catch (error) {
    failed(error);
  }
}
