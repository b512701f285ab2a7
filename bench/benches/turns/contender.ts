import type { CodexHome } from "./codex-home.ts";
import type { Prompt } from "./script.ts";

/** The one face on all sides that are compared: what is timed goes through it, and it adds nothing. */
export interface Contender {
  /** Ready for threads: the process runs and has shaken hands, where there is one that stays. */
  open(home: CodexHome): Promise<Session>;
}

export interface Session extends AsyncDisposable {
  startThread(): Promise<Conversation>;
}

export interface Conversation {
  /** One turn, until it has completed. Gives the final message. */
  run(prompt: Prompt): Promise<string>;
}

/** A contender on an app-server, which can do more than `codex exec`. */
export interface AppServerContender extends Contender {
  open(home: CodexHome): Promise<AppServerSession>;
}

export interface AppServerSession extends Session {
  /** A thread is stored, as users have it, unless it is to be ephemeral. */
  startThread(options?: { readonly ephemeral?: boolean }): Promise<AppServerConversation>;
}

export interface AppServerConversation extends Conversation {
  /** One turn, until it has completed. Gives what its deltas said, put together. */
  stream(prompt: Prompt): Promise<string>;
}

/** The same contender on ephemeral threads: codex does less work, so the share of the client is larger. */
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
