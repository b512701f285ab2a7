import type { JsonValue, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import { callOptions } from "./call-options.ts";

export interface ConfigReadOptions extends CallOptions {
  /** Reads the config as it is seen from this folder, with the files of its project. */
  readonly cwd?: string;
}

export interface ConfigWriteOptions extends CallOptions {
  /** Refuses to write when the file is no longer this version: see `version`. */
  readonly expectedVersion?: string;
}

/** One change. A `null` value takes the key out. */
export interface ConfigChange {
  /** The key with its tables, as in TOML: `sandbox_workspace_write.network_access`. */
  readonly keyPath: string;
  readonly value: JsonValue;
  /** `"replace"` puts the value in place of what is there; `"upsert"` merges tables. Default `"replace"`. */
  readonly merge?: v2.MergeStrategy;
}

/** Codex's configuration. Writes change the user's `config.toml`; for one thread alone use the options of `startThread`. */
export class Config {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The effective config, where each value comes from, and on request the files that it was made of. */
  read({
    cwd,
    includeLayers = false,
    ...options
  }: ConfigReadOptions & { includeLayers?: boolean } = {}): Promise<v2.ConfigReadResponse> {
    return this.#caller.request("config/read", { includeLayers, cwd: cwd ?? null }, options);
  }

  /** The effective value of one key, or `undefined`: `value("features.apps")`. */
  async value(keyPath: string, options: ConfigReadOptions = {}): Promise<JsonValue | undefined> {
    const { config } = await this.read(options);
    let value: unknown = config;
    for (const key of splitKeyPath(keyPath)) {
      if (typeof value !== "object" || value === null) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    // TOML has no null: it is how the server writes "not set".
    return value === null ? undefined : value;
  }

  /** The version of the user's file now, for `expectedVersion`; `undefined` when there is no file. */
  async version(options: CallOptions = {}): Promise<string | undefined> {
    const { layers } = await this.read({ ...options, includeLayers: true });
    return layers?.find(({ name }) => name.type === "user")?.version;
  }

  /** Writes one value into the user's file. `status` is `okOverridden` when another layer hides it. */
  write(
    keyPath: string,
    value: JsonValue,
    { merge = "replace", expectedVersion, ...options }: ConfigWriteOptions & Pick<ConfigChange, "merge"> = {},
  ): Promise<v2.ConfigWriteResponse> {
    const params = { keyPath, value, mergeStrategy: merge, expectedVersion: expectedVersion ?? null };
    return this.#caller.request("config/value/write", params, options);
  }

  /** Writes several values, all or none. */
  writeAll(
    changes: readonly ConfigChange[],
    { expectedVersion, reload = false, ...options }: ConfigWriteOptions & { reload?: boolean } = {},
  ): Promise<v2.ConfigWriteResponse> {
    const edits = changes.map(({ keyPath, value, merge = "replace" }) => ({
      keyPath,
      value,
      mergeStrategy: merge,
    }));
    const params = { edits, expectedVersion: expectedVersion ?? null, reloadUserConfig: reload };
    return this.#caller.request("config/batchWrite", params, callOptions(options));
  }

  /** What an administrator requires of this machine; `null` when nothing. */
  async requirements(options: CallOptions = {}): Promise<v2.ConfigRequirements | null> {
    const { requirements } = await this.#caller.request("configRequirements/read", undefined, options);
    return requirements;
  }
}

/** The keys of a TOML path: `a."b.c".d` is `a`, `b.c`, `d`. */
function splitKeyPath(keyPath: string): string[] {
  const keys = keyPath.match(/"[^"]*"|'[^']*'|[^."']+/g) ?? [];
  if (keys.length === 0) throw new CodexError("invalid_argument", "The key path is empty.");
  return keys.map((key) => key.replaceAll(/^["']|["']$/g, ""));
}
