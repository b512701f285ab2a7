import { floor as bareWire } from "../turns/floor.ts";
import type { Prompt } from "../turns/script.ts";
import type { Contender } from "./contender.ts";

/** The bare wire: an ephemeral thread and a turn for each call, as ours has by default, and nothing else. */
export const floor: Contender = {
  async open(home) {
    const session = await bareWire.open(home);
    return {
      async generate(prompt) {
        const thread = await session.startThread({ ephemeral: true });
        // Any words will do for the wire; the turns' own script knows two.
        return thread.run(prompt as Prompt);
      },
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  },
};
