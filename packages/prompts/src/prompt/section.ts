import type { PromptSession } from "../session/session.ts";
import type { AnyPromptTool } from "../tools/define-prompt-tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";

/** Context passed to a section's functions, in addition to the parameters. */
export interface RenderContext {
  readonly session: PromptSession;
  /** Summary of the workspace's content, if the evaluation has a workspace. */
  readonly workspacePreview: string | undefined;
}

/** Whether the prompt contains a section's text or only its summary. */
export type Visibility = "full" | "summary";

/** A folder with a `SKILL.md` that Codex may use. */
export interface PromptSkill {
  readonly name: string;
  /** Absolute path of the skill's folder. */
  readonly path: string;
}

/** A part of a prompt. Sections form a tree, which is rendered depth-first under numbered headings. */
export interface Section<Params> {
  /** Unique among its siblings. The path of a section is its keys joined with dots. */
  readonly key: string;
  readonly title: string;
  /** The text, or a function that returns it. */
  readonly render: string | ((params: Params, context: RenderContext) => string);
  /** Replaces the text while the section is summarised. Required for sections that can be summarised. */
  readonly summary?: string | ((params: Params, context: RenderContext) => string);
  /** Default: "full". */
  readonly visibility?: Visibility | ((params: Params, context: RenderContext) => Visibility);
  /** If it returns false, the section, its children and their tools are left out of the prompt. */
  readonly enabled?: (params: Params, context: RenderContext) => boolean;
  readonly children?: readonly Section<Params>[];
  /** Tools that can be called while this section is open. */
  readonly tools?: readonly AnyPromptTool[];
  readonly skills?: readonly PromptSkill[];
  /** Policies for the tools of this section and its children. */
  readonly policies?: readonly ToolPolicy[];
  /** Whether an override may replace the text. Default: true. */
  readonly acceptsOverrides?: boolean;
}

/** Defines a typed section that several prompts can share. */
export function defineSection<Params>(section: Section<Params>): Section<Params> {
  return section;
}
