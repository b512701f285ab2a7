import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { type ListOptions, listPages, type Page, type PageOptions, toPageParams } from "./paginate.ts";

interface ModelFilter {
  /** Includes models that a picker does not show. */
  readonly includeHidden?: boolean;
}

/** The server's model catalog. It works when signed out. Models of custom providers are not in it. */
export class Models {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Yields all models in the order in which a picker shows them.
   * @example
   * for await (const model of codex.models.list()) console.log(model.id, model.isDefault);
   */
  list(options: ListOptions & ModelFilter = {}): AsyncGenerator<v2.Model, void, undefined> {
    return listPages(options, (page) => this.page(page));
  }

  /** Reads one page of the models. */
  page({ includeHidden, ...options }: PageOptions & ModelFilter = {}): Promise<Page<v2.Model>> {
    const params = { ...toPageParams(options), includeHidden: includeHidden ?? false };
    return this.#caller.request("model/list", params, pickCallOptions(options));
  }

  /** Finds the model that Codex uses by default. Undefined if the catalog marks none. */
  default(options: CallOptions = {}): Promise<v2.Model | undefined> {
    return this.#findFirst((model) => model.isDefault, options);
  }

  /** Finds a model by id or name, including hidden ones. Undefined if it does not exist. */
  find(id: string, options: CallOptions = {}): Promise<v2.Model | undefined> {
    return this.#findFirst((model) => model.id === id || model.model === id, {
      ...options,
      includeHidden: true,
    });
  }

  /**
   * Finds a model by id or name. Rejects with `model_not_found` and the available models if it does not exist. Codex itself
   * accepts any name for a thread or a turn, and fails only when the model's endpoint rejects it.
   */
  async get(id: string, options: CallOptions = {}): Promise<v2.Model> {
    const known: string[] = [];
    for await (const model of this.list({ ...options, includeHidden: true })) {
      if (model.id === id || model.model === id) return model;
      if (!model.hidden) known.push(model.id);
    }
    throw new CodexError("model_not_found", `Unknown model "${id}". Available models: ${known.join(", ")}.`);
  }

  /** Reads what the configured provider supports beyond text. */
  providerCapabilities(options: CallOptions = {}): Promise<v2.ModelProviderCapabilitiesReadResponse> {
    return this.#caller.request("modelProvider/capabilities/read", {}, options);
  }

  async #findFirst(
    matches: (model: v2.Model) => boolean,
    options: CallOptions & ModelFilter,
  ): Promise<v2.Model | undefined> {
    for await (const model of this.list(options)) if (matches(model)) return model;
    return undefined;
  }
}
