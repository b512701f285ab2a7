import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

interface PluginScope {
  /** Folders whose projects can define marketplaces. */
  readonly cwds?: readonly string[];
}

/** Plugins, which bundle skills, MCP servers, apps and hooks. Read-only; install them with `codex.request`. */
export class Plugins {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the marketplaces and their plugins. */
  list({
    cwds = [],
    refetch = false,
    ...options
  }: CallOptions & PluginScope & { readonly refetch?: boolean } = {}): Promise<v2.PluginListResponse> {
    return this.#caller.request("plugin/list", { cwds: [...cwds], forceRefetch: refetch }, options);
  }

  /** Lists the installed plugins. */
  installed({ cwds = [], ...options }: CallOptions & PluginScope = {}): Promise<v2.PluginInstalledResponse> {
    return this.#caller.request("plugin/installed", { cwds: [...cwds] }, options);
  }
}
