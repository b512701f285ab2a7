import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

interface PluginScope {
  /** Folders whose projects may bring marketplaces of their own. */
  readonly cwds?: readonly string[];
}

/** Plugins: skills, MCP servers, apps and hooks in one package. Read only; `codex.request` installs. */
export class Plugins {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The marketplaces and what they offer. */
  list({
    cwds = [],
    refetch = false,
    ...options
  }: CallOptions & PluginScope & { readonly refetch?: boolean } = {}): Promise<v2.PluginListResponse> {
    return this.#caller.request("plugin/list", { cwds: [...cwds], forceRefetch: refetch }, options);
  }

  /** What is installed. */
  installed({ cwds = [], ...options }: CallOptions & PluginScope = {}): Promise<v2.PluginInstalledResponse> {
    return this.#caller.request("plugin/installed", { cwds: [...cwds] }, options);
  }
}
