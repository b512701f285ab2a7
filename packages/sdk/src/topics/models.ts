import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import { callOptions } from "./call-options.ts";
import { type ListOptions, type Page, pageAt, type PageOptions, pageParams, paginate } from "./paginate.ts";

interface Hidden {
  /** Also the models that a picker does not show. */
  readonly includeHidden?: boolean;
}

/** The models of the server's catalog. Works signed out; a model of a provider of your own is not in it. */
export class Models {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Every model, in the order in which a picker shows them.
   * @example
   * for await (const model of codex.models.list()) console.log(model.id, model.isDefault);
   */
  list({ includeHidden, ...options }: ListOptions & Hidden = {}): AsyncGenerator<v2.Model, void, undefined> {
    return paginate((cursor) =>
      this.page({ ...pageAt(cursor, options), includeHidden: includeHidden ?? false }),
    );
  }

  /** One page of the models. */
  page({ includeHidden, ...options }: PageOptions & Hidden = {}): Promise<Page<v2.Model>> {
    const params = { ...pageParams(options), includeHidden: includeHidden ?? false };
    return this.#caller.request("model/list", params, callOptions(options));
  }

  /** The model that Codex takes when nobody names one; `undefined` when the catalog marks none. */
  default(options: CallOptions = {}): Promise<v2.Model | undefined> {
    return this.#first((model) => model.isDefault, options);
  }

  /** The model with this id or name, hidden ones included; `undefined` when there is none. */
  find(id: string, options: CallOptions = {}): Promise<v2.Model | undefined> {
    return this.#first((model) => model.id === id || model.model === id, { ...options, includeHidden: true });
  }

  /**
   * The model with this id or name, or an error `model_not_found` that names those there are. Codex itself takes any name
   * for a thread or a turn, and only fails when the model's server refuses it.
   */
  async get(id: string, options: CallOptions = {}): Promise<v2.Model> {
    const known: string[] = [];
    for await (const model of this.list({ ...options, includeHidden: true })) {
      if (model.id === id || model.model === id) return model;
      if (!model.hidden) known.push(model.id);
    }
    throw new CodexError("model_not_found", `There is no model "${id}". There are: ${known.join(", ")}.`);
  }

  /** What the configured provider can do beside text. */
  providerCapabilities(options: CallOptions = {}): Promise<v2.ModelProviderCapabilitiesReadResponse> {
    return this.#caller.request("modelProvider/capabilities/read", {}, options);
  }

  async #first(
    matches: (model: v2.Model) => boolean,
    options: CallOptions & Hidden,
  ): Promise<v2.Model | undefined> {
    for await (const model of this.list(options)) if (matches(model)) return model;
    return undefined;
  }
}
