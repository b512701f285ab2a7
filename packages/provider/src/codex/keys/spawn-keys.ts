import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import { LIMITS } from "../limits.ts";

const record = z.strictObject({ sessionId: z.string().min(1), spec: z.string() });

/**
 * Which session an idempotency key started, in a file per key below `CODEX_HOME`: a process that starts again, or another one on
 * the same home, finds the session that was started before.
 */
export class SpawnKeys {
  readonly #folder: string;
  #isPruned = false;

  constructor(codexHome: string) {
    this.#folder = join(codexHome, "codexkit-spawn-keys");
  }

  /**
   * The session that the key started; undefined for a new key.
   * @throws {ProviderError} `idempotency_conflict` if it was for another spec.
   */
  async find(key: string, spec: AgentSpec): Promise<string | undefined> {
    const known = await this.#read(key);
    if (!known) return undefined;
    if (known.spec === digestSpec(spec)) return known.sessionId;
    const message = `The idempotency key "${key}" was used for another spec. Use a new key for a new task.`;
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

  /** Forgets a key whose session is gone. */
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
    // A crash in the middle of a write: the turn begins after it, so that no work was started.
    await this.forget(key);
    return undefined;
  }

  /** Removes the oldest keys beyond the limit, once per process: a fleet uses some hundred per day. */
  async #prune(): Promise<void> {
    if (this.#isPruned) return;
    this.#isPruned = true;
    const names = await readdir(this.#folder).catch(() => []);
    if (names.length <= LIMITS.spawnKeys) return;
    const aged = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        return { path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    const oldest = aged.toSorted((one, other) => one.at - other.at).slice(0, names.length - LIMITS.spawnKeys);
    await Promise.all(oldest.map(({ path }) => rm(path, { force: true })));
  }

  #path(key: string): string {
    return join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.json`);
  }
}

/** The spec without its callback, which a retry makes anew; its keys in one order. */
function digestSpec({ onProcessSpawned: _callback, ...spec }: AgentSpec): string {
  const ordered = JSON.stringify(spec, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(ordered).digest("hex");
}
