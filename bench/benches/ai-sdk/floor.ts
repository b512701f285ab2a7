import { floor as bareWire } from "../turns/floor.ts";
import type { Prompt } from "../turns/script.ts";
import type { Contender } from "./contender.ts";

/** The bare wire: an ephemeral thread and a turn for each call, as ours has by default, and nothing else. */
export const floor: Contender = {
  async open(home) {
    const session = await bareWire.open(home);
    const generate = async (prompt: string): Promise<string> => {
      const thread = await session.startThread({ ephemeral: true });
      // Any words will do for the wire; the turns' own script knows two.
      return thread.run(prompt as Prompt);
    };
    return {
      generate,
      // The bare wire keeps no deltas apart; no row compares its streams.
      async *stream(prompt) {
        yield await generate(prompt);
      },
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  },
};
