import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { ProviderError } from "../../contract/provider-error.ts";

/** Number of idempotency keys to keep per CODEX_HOME: a month of a busy fleet. */
const MAX_KEYS = 10_000;

const record = z.strictObject({ sessionId: z.string().min(1), spec: z.string() });

/**
 * Stores the session of each idempotency key, one file per key in `CODEX_HOME`, so that a restarted process, or another one with
 * the same home, finds it.
 */
export class SpawnKeys {
  readonly #folder: string;
  #isPruned = false;

  constructor(codexHome: string) {
    this.#folder = join(codexHome, "codexkit-spawn-keys");
  }

  /**
   * Returns the session of a key. Undefined for a new key.
   * @throws {ProviderError} `idempotency_conflict` if the key was used for a different spec.
   */
  async find(key: string, spec: AgentSpec): Promise<string | undefined> {
    const known = await this.#read(key);
    if (!known) return undefined;
    if (known.spec === digestSpec(spec)) return known.sessionId;
    const message = `The idempotency key "${key}" was used for a different spec. Use a new key for a new task.`;
    throw new ProviderError("idempotency_conflict", message);
  }

  /**
   * Records the session of a key. False if another process has recorded one in the meantime.
   */
  async claim(key: string, spec: AgentSpec, sessionId: string): Promise<boolean> {
    await this.#prune();
    const content = JSON.stringify({ sessionId, spec: digestSpec(spec) });
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(this.#path(key), content, { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  }

  /** Removes a key whose session no longer exists. */
  async forget(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async #read(key: string): Promise<z.infer<typeof record> | undefined> {
    try {
      const parsed = record.safeParse(JSON.parse(await readFile(this.#path(key), "utf8")));
      if (parsed.success) return parsed.data;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      if (!(error instanceof SyntaxError)) throw error;
    }
    // A process crashed during the write. The turn starts after the write, so no work was started.
    await this.forget(key);
    return undefined;
  }

  /** Removes the oldest keys beyond the limit, once per process: a fleet uses some hundred per day. */
  async #prune(): Promise<void> {
    if (this.#isPruned) return;
    this.#isPruned = true;
    const names = await readdir(this.#folder).catch(() => []);
    if (names.length <= MAX_KEYS) return;
    const aged = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        return { path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    const oldest = aged.toSorted((one, other) => one.at - other.at).slice(0, names.length - MAX_KEYS);
    await Promise.all(oldest.map(({ path }) => rm(path, { force: true })));
  }

  #path(key: string): string {
    return join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.json`);
  }
}

/** The spec without its callback, which differs in a retry, and with sorted keys. */
function digestSpec({ onProcessSpawned: _callback, ...spec }: AgentSpec): string {
  const ordered = JSON.stringify(spec, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(ordered).digest("hex");
}
