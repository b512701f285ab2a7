import { z } from "zod";
import { ProviderError } from "../contract/provider-error.ts";

/** The stored state of a session. */
export interface StubSession {
  readonly id: string;
  /** All prompts, oldest first. */
  readonly prompts: readonly string[];
}

const exported = z.strictObject({
  format: z.literal("codexkit-stub-session"),
  id: z.string().min(1),
  prompts: z.array(z.string()),
});

/** Session store of stubs. Providers that share one can resume each other's sessions, as agents on one machine can. */
export class StubSessions {
  readonly #prompts = new Map<string, readonly string[]>();
  readonly #live = new Set<string>();

  /** Creates a session, which is busy until it is released. */
  create(prompt: string): StubSession {
    let number = this.#prompts.size + 1;
    // An imported session may already have this number.
    while (this.#prompts.has(`stub-${number}`)) number += 1;
    return this.#use(`stub-${number}`, [prompt]);
  }

  /** @throws {ProviderError} `session_not_found`, `session_busy` */
  export(id: string): Uint8Array {
    const session = { format: "codexkit-stub-session", id, prompts: this.#idle(id) };
    return new TextEncoder().encode(JSON.stringify(session));
  }

  /** @throws {ProviderError} `invalid_export`, `session_busy` */
  import(bytes: Uint8Array): string {
    const { id, prompts } = readExport(bytes);
    if (this.#live.has(id)) throw busy(id);
    this.#prompts.set(id, prompts);
    return id;
  }

  /** @throws {ProviderError} `session_not_found`, `session_busy` */
  open(id: string, prompt: string): StubSession {
    return this.#use(id, [...this.#idle(id), prompt]);
  }

  release(id: string): void {
    this.#live.delete(id);
  }

  #idle(id: string): readonly string[] {
    const prompts = this.#prompts.get(id);
    if (prompts === undefined)
      throw new ProviderError("session_not_found", `The stub has no session "${id}".`);
    if (this.#live.has(id)) throw busy(id);
    return prompts;
  }

  #use(id: string, prompts: readonly string[]): StubSession {
    this.#prompts.set(id, prompts);
    this.#live.add(id);
    return { id, prompts };
  }
}

function busy(id: string): ProviderError {
  return new ProviderError("session_busy", `The stub's session "${id}" is running. Stop its handle first.`);
}

function readExport(bytes: Uint8Array): z.infer<typeof exported> {
  try {
    return exported.parse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    const message = "The bytes are not an exported session of a stub. Pass what `export` of a stub returned.";
    throw new ProviderError("invalid_export", message, { cause: error });
  }
}
