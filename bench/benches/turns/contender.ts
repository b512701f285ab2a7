import type { CodexHome } from "./codex-home.ts";
import type { Prompt } from "./script.ts";

/**
 * The common interface of all compared implementations. The measured work goes through it, and it adds
 * nothing.
 */
export interface Contender {
  /** Ready for threads. A long-lived process is running and has completed the handshake. */
  open(home: CodexHome): Promise<Session>;
}

export interface Session extends AsyncDisposable {
  startThread(): Promise<Conversation>;
}

export interface Conversation {
  /** Runs one turn until it has completed. Resolves to the final message. */
  run(prompt: Prompt): Promise<string>;
}

/** A contender on an app-server, which can do more than `codex exec`. */
export interface AppServerContender extends Contender {
  open(home: CodexHome): Promise<AppServerSession>;
}

export interface AppServerSession extends Session {
  /** Starts a thread. It is stored, as for users, unless it is ephemeral. */
  startThread(options?: { readonly ephemeral?: boolean }): Promise<AppServerConversation>;
}

export interface AppServerConversation extends Conversation {
  /** Runs one turn until it has completed. Resolves to the joined text of its deltas. */
  stream(prompt: Prompt): Promise<string>;
}

/** The same contender on ephemeral threads. Codex then does less work, so the client's share is larger. */
export function ephemeral(contender: AppServerContender): Contender {
  return {
    async open(home) {
      const session = await contender.open(home);
      return {
        startThread: () => session.startThread({ ephemeral: true }),
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      };
    },
  };
}
