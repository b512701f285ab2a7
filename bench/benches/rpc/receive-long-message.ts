import { startChild } from "./child.ts";
import type { Contender } from "./contender.ts";

const BYTES = 32 * 1024 * 1024;

/** Returns the milliseconds from the word "go" until the listener has received the one long message. */
export async function receiveLongMessage(contender: Contender, signal: AbortSignal): Promise<number> {
  await using child = await startChild("feeder.ts", [contender.framing, "long", String(BYTES)], signal);
  const { promise: heardAt, resolve } = Promise.withResolvers<number>();
  await using stack = new AsyncDisposableStack();
  stack.use(contender.open(child, new Map([["item/completed", () => resolve(performance.now())]])));
  const began = performance.now();
  child.output.write("go");
  return (await Promise.race([heardAt, child.died])) - began;
}
