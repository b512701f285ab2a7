import { messageOf } from "@codexkit/rpc/async";
import type { Input, InputPart } from "codexkit";
import { join } from "node:path";
import { PromptError } from "../errors.ts";
import type { Prompt } from "../prompt/define-prompt.ts";
import { type RenderedPrompt, type RenderedTool, renderPrompt } from "../prompt/render-prompt.ts";
import type { PromptSkill } from "../prompt/section.ts";
import type { PromptSession } from "../session/session.ts";
import { disclosureTools, openedMessage } from "./disclosure.ts";
import type { EvaluateOptions } from "./options.ts";

/** The rendered prompt of one evaluation, including the sections that its agent has opened. */
export class PromptView {
  readonly #prompt: Prompt<unknown>;
  readonly #session: PromptSession;
  readonly #options: EvaluateOptions;
  readonly #opened = new Set<string>();
  /** Sections that the agent asked to open during the current turn. */
  #pendingKeys: readonly string[] = [];
  #rendered: RenderedPrompt;

  /** @throws {PromptError} if the prompt can't be rendered */
  constructor(prompt: Prompt<unknown>, session: PromptSession, options: EvaluateOptions) {
    this.#prompt = prompt;
    this.#session = session;
    this.#options = options;
    this.#rendered = this.#render();
  }

  get rendered(): RenderedPrompt {
    return this.#rendered;
  }

  /** Whether the agent asked to open sections, so that the turn must end. */
  get mustExpand(): boolean {
    return this.#pendingKeys.length > 0;
  }

  get firstInput(): Input {
    return [this.#rendered.text, ...toSkillParts(this.#rendered.skills)];
  }

  /** Opens the requested sections and returns the input for the next turn. */
  expand(): Input {
    const keys = this.#pendingKeys;
    this.#pendingKeys = [];
    for (const key of keys) this.#opened.add(key);
    const known = new Set(this.#rendered.skills);
    this.#rendered = this.#render();
    const newSkills = this.#rendered.skills.filter((skill) => !known.has(skill));
    return [openedMessage(this.#rendered, keys), ...toSkillParts(newSkills)];
  }

  /** All skills, including those of closed sections, because the sections may be opened later. */
  allSkills(): readonly PromptSkill[] {
    const { sections, skills } = this.#rendered;
    if (sections.every(({ visibility }) => visibility === "full")) return skills;
    return this.#render(new Set(sections.map(({ path }) => path))).skills;
  }

  /** All tools, including those of closed sections, because a thread's tools can't change. The dispatcher rejects those. */
  allTools(): readonly RenderedTool[] {
    const { sections, tools } = this.#rendered;
    if (sections.every(({ visibility }) => visibility === "full")) return tools;
    const disclosure = disclosureTools(
      () => this.#rendered,
      (keys) => {
        this.#pendingKeys = [...new Set([...this.#pendingKeys, ...keys])];
      },
    );
    return [...tools, ...disclosure];
  }

  #render(opened: ReadonlySet<string> = this.#opened): RenderedPrompt {
    const { overrides, workspace } = this.#options;
    try {
      return renderPrompt(this.#prompt, {
        context: { session: this.#session, workspacePreview: workspace?.preview() },
        opened,
        ...(overrides && { overrides }),
      });
    } catch (cause) {
      if (PromptError.is(cause)) throw cause;
      const message = messageOf(cause);
      const { name } = this.#prompt.definition;
      throw new PromptError("invalid_definition", `${name} could not be rendered: ${message}`, { cause });
    }
  }
}

function toSkillParts(skills: readonly PromptSkill[]): readonly InputPart[] {
  return skills.map(({ name, path }) => ({ skill: { name, path: join(path, "SKILL.md") } }));
}
