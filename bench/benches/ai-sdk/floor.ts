import { floor as bareWire } from "../turns/floor.ts";
import type { Prompt } from "../turns/script.ts";
import type { Contender } from "./contender.ts";

/**
 * The wire protocol alone: an ephemeral thread and a turn for each call, like our default, and nothing else.
 */
export const floor: Contender = {
  async open(home) {
    const session = await bareWire.open(home);
    const generate = async (prompt: string): Promise<string> => {
      const thread = await session.startThread({ ephemeral: true });
      // Any text works on the wire, but the script of the turns benchmark knows only two.
      return thread.run(prompt as Prompt);
    };
    return {
      generate,
      // The floor does not separate deltas; no row compares its streams.
      async *stream(prompt) {
        yield await generate(prompt);
      },
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  },
};
