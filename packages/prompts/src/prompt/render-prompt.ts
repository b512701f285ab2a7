import { PromptError } from "../errors.ts";
import type { AnyPromptTool } from "../tools/define-prompt-tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import type { Prompt } from "./define-prompt.ts";
import type { PromptOverrides } from "./overrides.ts";
import type { PromptSkill, RenderContext, Section, Visibility } from "./section.ts";

/** A section of a rendered prompt. */
export interface RenderedSection {
  /** The section's keys, joined with dots. */
  readonly path: string;
  /** The section's number in the outline, such as `1.2`. */
  readonly number: string;
  readonly title: string;
  readonly visibility: Visibility;
  /** The full text including children, for `read_section`. */
  readonly fullText: string;
  /** Whether the section or a descendant has tools, so that it must be opened rather than only read. */
  readonly hasTools: boolean;
}

/** A tool with the policies that apply to it. */
export interface RenderedTool {
  readonly tool: AnyPromptTool;
  readonly description: string;
  readonly policies: readonly ToolPolicy[];
  /** Path of the summarised section that must be opened before the tool can be called. */
  readonly closedBy: string | undefined;
}

export interface RenderedPrompt {
  readonly name: string;
  readonly text: string;
  readonly sections: readonly RenderedSection[];
  readonly tools: readonly RenderedTool[];
  readonly skills: readonly PromptSkill[];
}

export interface RenderOptions {
  readonly context: RenderContext;
  /** Paths of summarised sections that have been opened. */
  readonly opened?: ReadonlySet<string>;
  readonly overrides?: PromptOverrides;
}

/** Renders a prompt's sections depth-first under numbered headings. The same input always gives the same text. */
export function renderPrompt(prompt: Prompt<unknown>, options: RenderOptions): RenderedPrompt {
  const { definition } = prompt;
  const sections = definition.sections as readonly Section<unknown>[];
  const targets = [...listTargets(sections, [])];
  options.overrides?.checkTargets(
    new Set(targets.map(({ path }) => path)),
    new Set([...(definition.tools ?? []), ...targets.flatMap(({ tools }) => tools)].map(({ name }) => name)),
  );
  const renderer = new Renderer(prompt.params, options);
  const text = renderer.renderSections(sections, {
    parents: [],
    numbers: [],
    policies: definition.policies ?? [],
    closedBy: undefined,
  });
  renderer.addTools(definition.tools ?? [], definition.policies ?? [], undefined);
  return {
    name: definition.name,
    text,
    sections: renderer.sections,
    tools: renderer.tools,
    skills: renderer.skills,
  };
}

/** Yields the paths and tools of all sections, including those that are not enabled. */
function* listTargets(
  sections: readonly Section<unknown>[],
  parents: readonly string[],
): Generator<{ readonly path: string; readonly tools: readonly AnyPromptTool[] }> {
  for (const { key, tools = [], children = [] } of sections) {
    yield { path: [...parents, key].join("."), tools };
    yield* listTargets(children, [...parents, key]);
  }
}

interface Position {
  readonly parents: readonly string[];
  readonly numbers: readonly number[];
  readonly policies: readonly ToolPolicy[];
  readonly closedBy: string | undefined;
}

/** The deepest heading level in Markdown. */
const MAX_HEADING = 6;

class Renderer {
  readonly sections: RenderedSection[] = [];
  readonly tools: RenderedTool[] = [];
  readonly skills: PromptSkill[] = [];
  readonly #params: unknown;
  readonly #options: RenderOptions;

  constructor(params: unknown, options: RenderOptions) {
    this.#params = params;
    this.#options = options;
  }

  renderSections(sections: readonly Section<unknown>[], position: Position): string {
    const enabled = sections.filter((section) => this.#isEnabled(section));
    return enabled
      .map((section, index) =>
        this.#renderSection(section, { ...position, numbers: [...position.numbers, index + 1] }),
      )
      .join("\n\n");
  }

  addTools(
    tools: readonly AnyPromptTool[],
    policies: readonly ToolPolicy[],
    closedBy: string | undefined,
  ): void {
    for (const tool of tools) {
      const description = this.#options.overrides?.toolDescription(tool) ?? tool.description;
      this.tools.push({ tool, description, policies, closedBy });
    }
  }

  #renderSection(section: Section<unknown>, position: Position): string {
    const path = [...position.parents, section.key].join(".");
    const number = position.numbers.join(".");
    const heading = `${"#".repeat(Math.min(position.numbers.length + 1, MAX_HEADING))} ${number}. ${section.title}`;
    const visibility = this.#visibility(section, path);
    const closedBy = position.closedBy ?? (visibility === "summary" ? path : undefined);
    const policies = [...position.policies, ...(section.policies ?? [])];

    // The parent precedes its children in the outline, although its full text contains theirs.
    const at = this.sections.length;
    const toolsBefore = this.tools.length;
    this.addTools(section.tools ?? [], policies, closedBy);
    if (closedBy === undefined) this.skills.push(...(section.skills ?? []));
    const body = this.#text(section, path);
    const children = this.renderSections(section.children ?? [], {
      parents: [...position.parents, section.key],
      numbers: position.numbers,
      policies,
      closedBy,
    });
    const fullText = [heading, body, children].filter((part) => part !== "").join("\n\n");
    const hasTools = this.tools.length > toolsBefore;
    this.sections.splice(at, 0, { path, number, title: section.title, visibility, fullText, hasTools });
    if (visibility === "full") return fullText;
    return [heading, this.#summary(section), disclosureHint(path, hasTools)].join("\n\n");
  }

  #isEnabled(section: Section<unknown>): boolean {
    const isEnabled: unknown = section.enabled?.(this.#params, this.#options.context) ?? true;
    if (typeof isEnabled === "boolean") return isEnabled;
    // Since a promise is truthy, it would enable every section.
    throw new PromptError(
      "invalid_definition",
      `Section "${section.key}": enabled returned ${typeof isEnabled} instead of a boolean.`,
    );
  }

  #visibility(section: Section<unknown>, path: string): Visibility {
    if (this.#options.opened?.has(path)) return "full";
    const { visibility = "full" } = section;
    const made: unknown =
      typeof visibility === "function" ? visibility(this.#params, this.#options.context) : visibility;
    if (made === "full" || made === "summary") return made;
    throw new PromptError(
      "invalid_definition",
      `Section "${path}": visibility must be "full" or "summary", got ${String(made)}.`,
    );
  }

  #text(section: Section<unknown>, path: string): string {
    const override = this.#options.overrides?.sectionText(path, section, this.#params);
    const text = override ?? this.#evaluate(section.render, path);
    return text.trim();
  }

  #summary(section: Section<unknown>): string {
    return this.#evaluate(section.summary ?? "", section.key).trim();
  }

  #evaluate(text: Exclude<Section<unknown>["summary"], undefined>, path: string): string {
    const made = typeof text === "function" ? text(this.#params, this.#options.context) : text;
    if (typeof made === "string") return made;
    throw new PromptError(
      "invalid_definition",
      `Section "${path}" rendered ${typeof made} instead of a string.`,
    );
  }
}

function disclosureHint(path: string, hasTools: boolean): string {
  return hasTools
    ? `[This section is summarised. To read it and use its tools, call open_sections with keys ["${path}"].]`
    : `[This section is summarised. To read it, call read_section with key "${path}".]`;
}
