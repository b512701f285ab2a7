import type { JsonValue, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import { pickCallOptions } from "./pick-call-options.ts";

export interface ConfigReadOptions extends CallOptions {
  /** Includes the configuration files of this folder's project. */
  readonly cwd?: string;
}

export interface ConfigWriteOptions extends CallOptions {
  /** Rejects the write if the file has another version. See `version`. */
  readonly expectedVersion?: string;
}

/** One change. A `null` value removes the key. */
export interface ConfigChange {
  /** Dotted TOML key: `sandbox_workspace_write.network_access`. */
  readonly keyPath: string;
  readonly value: JsonValue;
  /** `"replace"` overwrites the existing value; `"upsert"` merges tables. Default: `"replace"`. */
  readonly merge?: v2.MergeStrategy;
}

/** Codex's configuration. Writes change the user's `config.toml`. For a single thread, use the options of `startThread`. */
export class Config {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Reads the effective config and the origin of each value. `includeLayers` adds the files it was merged from. */
  read({
    cwd,
    includeLayers = false,
    ...options
  }: ConfigReadOptions & { includeLayers?: boolean } = {}): Promise<v2.ConfigReadResponse> {
    return this.#caller.request("config/read", { includeLayers, cwd: cwd ?? null }, options);
  }

  /** Reads the effective value of one key, such as `features.apps`. Undefined if the key is not set. */
  async value(keyPath: string, options: ConfigReadOptions = {}): Promise<JsonValue | undefined> {
    const { config } = await this.read(options);
    let value: unknown = config;
    for (const key of splitKeyPath(keyPath)) {
      if (typeof value !== "object" || value === null) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    // TOML has no null. The server uses it for "not set".
    return value === null ? undefined : value;
  }

  /** Reads the current version of the user's file, for `expectedVersion`. Undefined if the file does not exist. */
  async version(options: CallOptions = {}): Promise<string | undefined> {
    const { layers } = await this.read({ ...options, includeLayers: true });
    return layers?.find(({ name }) => name.type === "user")?.version;
  }

  /** Writes one value to the user's file. `status` is `okOverridden` if another layer overrides it. */
  write(
    keyPath: string,
    value: JsonValue,
    { merge = "replace", expectedVersion, ...options }: ConfigWriteOptions & Pick<ConfigChange, "merge"> = {},
  ): Promise<v2.ConfigWriteResponse> {
    const params = { keyPath, value, mergeStrategy: merge, expectedVersion: expectedVersion ?? null };
    return this.#caller.request("config/value/write", params, options);
  }

  /** Writes several values atomically. */
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
    return this.#caller.request("config/batchWrite", params, pickCallOptions(options));
  }

  /** Reads the administrator's requirements for this machine. Null if there are none. */
  async requirements(options: CallOptions = {}): Promise<v2.ConfigRequirements | null> {
    const { requirements } = await this.#caller.request("configRequirements/read", undefined, options);
    return requirements;
  }
}

/** Splits a dotted TOML key: `a."b.c".d` becomes `a`, `b.c`, `d`. */
function splitKeyPath(keyPath: string): string[] {
  const keys = keyPath.match(/"[^"]*"|'[^']*'|[^."']+/g) ?? [];
  if (keys.length === 0) throw new CodexError("invalid_argument", "The key path is empty.");
  return keys.map((key) => key.replaceAll(/^["']|["']$/g, ""));
}
