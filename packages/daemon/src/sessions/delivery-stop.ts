import type { CommandStore, PendingCommand } from "../commands/command-store.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { Database } from "../database.ts";

/**
 * Stops the actions of a delivery, because of a command of the session that ends its turn, or because the daemon shuts down. The
 * command itself is carried out after the delivery.
 */
export class DeliveryStop implements Disposable {
  readonly #commands: CommandStore;
  readonly #sessionId: string;
  readonly #controller = new AbortController();
  readonly #subscription: Disposable;

  constructor({ commands, store }: Pick<Database, "commands" | "store">, sessionId: string) {
    this.#commands = commands;
    this.#sessionId = sessionId;
    this.#subscription = store.notifier.subscribe(notificationKeys.commands(sessionId), () => this.#check());
    this.#check();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #check(): void {
    this.#commands.pending(this.#sessionId).then(
      (commands) => {
        if (commands.some(endsTurn)) this.stop();
      },
      // If the store can't be reached, the delivery itself reports the error.
      () => {},
    );
  }
}

function endsTurn({ kind, body }: PendingCommand): boolean {
  if (kind === "message") return body.mode === "start";
  return kind === "interrupt" || kind === "delete";
}
