import { ThreadRunError } from "./errors.ts";
import { resolveWorkingFolder } from "./check-folder.ts";
import { checkOptions } from "./check-options.ts";
import type { ThreadError, ThreadEvent, Usage } from "./events.ts";
import { type Input, toPrompt } from "./input.ts";
import type { ThreadItem } from "./items.ts";
import type { ThreadOptions, TurnOptions } from "./options.ts";
import type { TurnRequest } from "./begin-turn.ts";

/** The result of a turn. */
type Turn = {
  /** All items, in the order in which they completed. */
  items: ThreadItem[];
  /** The agent's last message. */
  finalResponse: string;
  usage: Usage | null;
};

/** The result of `run`. */
export type RunResult = Turn;

type StreamedTurn = {
  events: AsyncGenerator<ThreadEvent>;
};

/** The result of `runStreamed`. */
export type RunStreamedResult = StreamedTurn;

/** The part of a turn request that a thread supplies. Its `Codex` adds the rest. */
export type ThreadTurn = Pick<TurnRequest, "threadId" | "setup" | "prompt" | "options">;

type StreamTurn = (turn: ThreadTurn) => AsyncGenerator<ThreadEvent, void, undefined>;

/** A conversation with the agent, created by `Codex`. */
export class Thread {
  readonly #streamTurn: StreamTurn;
  readonly #options: ThreadOptions;
  #id: string | null;

  /** @internal */
  constructor(streamTurn: StreamTurn, options: ThreadOptions, id: string | null = null) {
    this.#streamTurn = streamTurn;
    this.#options = options;
    this.#id = id;
  }

  /** The thread's id. Null until its first turn has started. */
  get id(): string | null {
    return this.#id;
  }

  /** Runs a turn and streams its events. The turn starts when they are first read. */
  runStreamed(input: Input, turnOptions: TurnOptions = {}): Promise<StreamedTurn> {
    return Promise.resolve({ events: this.#stream(input, turnOptions) });
  }

  /** Runs a turn to its end. Rejects if it fails. */
  async run(input: Input, turnOptions: TurnOptions = {}): Promise<Turn> {
    const items: ThreadItem[] = [];
    let finalResponse = "";
    let usage: Usage | null = null;
    let failure: ThreadError | undefined;
    try {
      for await (const event of this.#stream(input, turnOptions)) {
        if (event.type === "item.completed") {
          items.push(event.item);
          if (event.item.type === "agent_message") finalResponse = event.item.text;
        }
        if (event.type === "turn.completed") ({ usage } = event);
        if (event.type === "turn.failed") failure = event.error;
      }
    } catch (error) {
      if (!failure) throw error;
      throw new ThreadRunError(failure.message, { cause: error instanceof Error ? error.cause : error });
    }
    return { items, finalResponse, usage };
  }

  async *#stream(input: Input, options: TurnOptions): AsyncGenerator<ThreadEvent, void, undefined> {
    checkOutputSchema(options.outputSchema);
    checkOptions(this.#options, options);
    const events = this.#streamTurn({
      threadId: this.#id || null,
      setup: { options: this.#options, cwd: resolveWorkingFolder(this.#options) },
      prompt: toPrompt(input),
      options,
    });
    for await (const event of events) {
      if (event.type === "thread.started") this.#id = event.thread_id;
      yield event;
    }
  }
}

function checkOutputSchema(schema: unknown): void {
  const isObject = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  if (schema !== undefined && !isObject) throw new Error("outputSchema must be a plain JSON object");
}
