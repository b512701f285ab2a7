// Async primitives that every package shares: one implementation per problem.
import "../require-node.ts";

// Bounded waits.
export { raceAbort } from "./race-abort.ts";
export { withTimeout } from "./with-timeout.ts";
export { timerDelay } from "../timer-delay.ts";

// Order and flow.
export { KeyedSerialQueue, SerialQueue } from "./serial-queue.ts";
export { TokenBucket, type TokenBucketOptions } from "./token-bucket.ts";
export { AsyncQueue, type AsyncQueueOptions } from "./async-queue.ts";

// Scopes that own resources, for runtimes without these classes.
export { AsyncDisposableStack, DisposableStack } from "./disposable-stack.ts";

// Collections and bodies with a limit.
export { collectBody, collectBytes } from "./collect-bytes.ts";
export { BoundedMap, BoundedSet } from "./bounded-collections.ts";

// Errors.
export { messageOf } from "./message-of.ts";
