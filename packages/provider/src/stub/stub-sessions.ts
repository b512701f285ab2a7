import { ProviderError } from "../contract/provider-error.ts";

/** What a stub remembers of a session. */
export interface StubSession {
  readonly id: string;
  /** What it was asked, from the first time on. */
  readonly prompts: readonly string[];
}

/** The sessions of stubs. Providers that share one resume each other's, as agents on one machine do. */
export class StubSessions {
  readonly #prompts = new Map<string, readonly string[]>();
  readonly #live = new Set<string>();

  /** A new session, which is in use until it is released. */
  create(prompt: string): StubSession {
    const id = `stub-${this.#prompts.size + 1}`;
    return this.#use(id, [prompt]);
  }

  /** @throws {ProviderError} `session_not_found`, `session_busy` */
  open(id: string, prompt: string): StubSession {
    const prompts = this.#prompts.get(id);
    if (prompts === undefined)
      throw new ProviderError("session_not_found", `The stub has no session "${id}" to resume.`);
    if (this.#live.has(id)) {
      const message = `The stub's session "${id}" is at work. Stop its handle before it is resumed.`;
      throw new ProviderError("session_busy", message);
    }
    return this.#use(id, [...prompts, prompt]);
  }

  release(id: string): void {
    this.#live.delete(id);
  }

  #use(id: string, prompts: readonly string[]): StubSession {
    this.#prompts.set(id, prompts);
    this.#live.add(id);
    return { id, prompts };
  }
}
