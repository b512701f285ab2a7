import { RPC_LIMITS, type RpcLimits } from "../src/limits.ts";
import { type CallOptions, OutgoingCalls } from "../src/outgoing-calls.ts";

export interface Sent {
  id: number;
  method: string;
  params?: unknown;
}

export const OVERLOADED = { code: -32001, message: "Overloaded" };

/** Calls that the test answers: `sent` has the sent messages, `answer` delivers a response. */
export function testCalls(limits: Partial<RpcLimits> = {}, random: () => number = () => 0) {
  const sent: Sent[] = [];
  let onSend: ((message: Sent) => Promise<void> | undefined) | undefined;
  const calls = new OutgoingCalls(
    { ...RPC_LIMITS, ...limits },
    (text) => {
      const message = JSON.parse(text) as Sent;
      const drained = onSend?.(message);
      sent.push(message);
      return drained;
    },
    random,
  );
  return {
    calls,
    sent,
    start: (method = "m", options: CallOptions = {}) => {
      const promise = calls.start(method, undefined, options);
      // Tests await rejections later.
      promise.catch(() => {});
      return promise;
    },
    sendsWith: (send: (message: Sent) => Promise<void> | undefined) => {
      onSend = send;
    },
  };
}
