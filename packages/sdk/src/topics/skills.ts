import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { checkAbsolute } from "./absolute-path.ts";

/** Selects a skill by name or by the path of its `SKILL.md`. */
export type SkillSelector = { readonly name: string } | { readonly path: string };

/** Skills: folders with a `SKILL.md` that teach the agent a task. */
export class Skills {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the skills that apply in each folder, and the files that failed to parse. */
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

  /** Sets additional folders to search for skills, replacing earlier ones, until the server exits. */
  async setExtraRoots(roots: readonly string[], options: CallOptions = {}): Promise<void> {
    const extraRoots = roots.map((root) => checkAbsolute(root, "A skill root"));
    await this.#caller.request("skills/extraRoots/set", { extraRoots }, options);
  }

  /** Enables a skill in the user's config. Resolves to whether it is effectively enabled: an administrator can override it. */
  enable(skill: SkillSelector, options: CallOptions = {}): Promise<boolean> {
    return this.#setEnabled(skill, true, options);
  }

  /** Disables a skill in the user's config. Resolves to whether it is still enabled. */
  disable(skill: SkillSelector, options: CallOptions = {}): Promise<boolean> {
    return this.#setEnabled(skill, false, options);
  }

  /** Calls the listener when skills have changed on disk. Call `list` again. */
  onChanged(listener: () => void): Disposable {
    return this.#caller.on("skills/changed", () => listener());
  }

  async #setEnabled(skill: SkillSelector, enabled: boolean, options: CallOptions): Promise<boolean> {
    const { effectiveEnabled } = await this.#caller.request(
      "skills/config/write",
      { ...skill, enabled },
      options,
    );
    return effectiveEnabled;
  }
}
