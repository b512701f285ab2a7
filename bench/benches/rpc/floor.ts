import type { Contender } from "./contender.ts";

const LF = 10;

/**
 * The least work that counts as reading messages: split at line feeds, parse, look up the method. No checks,
 * no limits, no errors, no ids: responses are assumed to arrive in the order of the calls, which only this
 * benchmark's responder guarantees. A chunk is decoded as a whole and split as a string: decoding each line
 * (`Buffer.indexOf(10)`, `toString(start, end)`) takes a tenth longer, and a floor must not be beatable.
 */
export const floor: Contender = {
  framing: "lines",
  open({ input, output }, heard) {
    const waiting: ((result: unknown) => void)[] = [];
    let partial: Buffer[] = [];
    input.on("data", (chunk: Buffer) => {
      const last = chunk.lastIndexOf(LF);
      if (last === -1) {
        partial.push(chunk);
        return;
      }
      const whole = chunk.subarray(0, last + 1);
      const text = (partial.length === 0 ? whole : Buffer.concat([...partial, whole])).toString();
      partial = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
      let start = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        const message: { method: string; params: unknown; result: unknown } = JSON.parse(
          text.slice(start, end),
        );
        start = end + 1;
        const listener = heard.get(message.method);
        if (listener === undefined) waiting.shift()?.(message.result);
        else listener(message.params);
      }
    });
    return {
      call: (method, params) =>
        new Promise((resolve) => {
          waiting.push(resolve);
          output.write(`${JSON.stringify({ id: 0, method, params })}\n`);
        }),
      async [Symbol.asyncDispose]() {
        output.end();
      },
    };
  },
};
