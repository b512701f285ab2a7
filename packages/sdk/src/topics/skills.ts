import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { checkAbsolute } from "./absolute-path.ts";

/** A skill, by its name or by the path of its `SKILL.md`. */
export type SkillSelector = { readonly name: string } | { readonly path: string };

/** Skills: folders with a `SKILL.md` that tell the agent how to do something. */
export class Skills {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The skills that are seen from each folder, with the files that could not be read as one. */
  async list({
    cwds = [],
    reload = false,
    ...options
  }: CallOptions & { readonly cwds?: readonly string[]; readonly reload?: boolean } = {}): Promise<
    v2.SkillsListEntry[]
  > {
    const { data } = await this.#caller.request(
      "skills/list",
      { cwds: [...cwds], forceReload: reload },
      options,
    );
    return data;
  }

  /** More folders to find skills in, in place of those set before, until the server ends. */
  async setExtraRoots(roots: readonly string[], options: CallOptions = {}): Promise<void> {
    const extraRoots = roots.map((root) => checkAbsolute(root, "A root of skills"));
    await this.#caller.request("skills/extraRoots/set", { extraRoots }, options);
  }

  /** Lets the agent use a skill; kept in the user's config. */
  enable(skill: SkillSelector, options: CallOptions = {}): Promise<boolean> {
    return this.#set(skill, true, options);
  }

  /** Keeps a skill from the agent; kept in the user's config. */
  disable(skill: SkillSelector, options: CallOptions = {}): Promise<boolean> {
    return this.#set(skill, false, options);
  }

  /** Hears that skills changed on disk: list them again. */
  onChanged(listener: () => void): Disposable {
    return this.#caller.on("skills/changed", () => listener());
  }

  /** Whether it is enabled after all: an administrator may have the last word. */
  async #set(skill: SkillSelector, enabled: boolean, options: CallOptions): Promise<boolean> {
    const { effectiveEnabled } = await this.#caller.request(
      "skills/config/write",
      { ...skill, enabled },
      options,
    );
    return effectiveEnabled;
  }
}
