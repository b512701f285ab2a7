import { type OptionKeys, rejectUnknownOptions, type StandardSchema } from "codexkit";
import { PromptError } from "../errors.ts";
import type { CompletionChecker } from "../guardrails/completion.ts";
import type { FeedbackProvider } from "../guardrails/feedback.ts";
import type { ResourceOverride } from "../resources/define-resource.ts";
import type { AnyPromptTool } from "../tools/define-prompt-tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import { parseWith } from "../parse-with.ts";
import { checkPromptName, checkSectionKey } from "./names.ts";
import type { Section } from "./section.ts";

export interface PromptOptions<Params, Output> {
  /** Groups prompts, as in `reviews`. */
  readonly ns: string;
  /** Names the prompt inside its namespace. */
  readonly key: string;
  /** The parameters that sections read. Without it the prompt has none. */
  readonly params?: StandardSchema<Params>;
  /** The type of the answer. Without it the answer is text. */
  readonly output?: StandardSchema<Output>;
  readonly sections: readonly Section<Params>[];
  /** Tools that can always be called. */
  readonly tools?: readonly AnyPromptTool[];
  /** Apply to every tool. All must allow a call. */
  readonly policies?: readonly ToolPolicy[];
  /** Add advice to the results of tools. */
  readonly feedback?: readonly FeedbackProvider[];
  /** Decides whether the task is complete when the agent stops. */
  readonly completion?: CompletionChecker;
  /** Replaces resources that tools use, such as by fakes in tests. */
  readonly resources?: readonly ResourceOverride[];
}

/** A prompt without its parameters: a portable description of an agent. */
export interface PromptDefinition<Params, Output> extends PromptOptions<Params, Output> {
  /** `ns/key`. */
  readonly name: string;
  /**
   * Binds the parameters.
   * @throws {PromptError} `invalid_parameters`
   */
  bind(...params: keyof Params extends never ? [] : [params: Params]): Prompt<Output>;
}

/** A prompt with its parameters: what `evaluate` takes. */
export interface Prompt<Output> {
  readonly definition: AnyPromptDefinition<Output>;
  readonly params: unknown;
}

/** A definition whose parameters are already checked. */
export type AnyPromptDefinition<Output> = Omit<PromptOptions<never, Output>, "params"> & {
  readonly name: string;
};

const KNOWN: OptionKeys<PromptOptions<never, never>> = {
  ns: true,
  key: true,
  params: true,
  output: true,
  sections: true,
  tools: true,
  policies: true,
  feedback: true,
  completion: true,
  resources: true,
};

/**
 * Defines a prompt.
 *
 * @example
 * const review = definePrompt({
 *   ns: "reviews",
 *   key: "security",
 *   params: z.object({ branch: z.string() }),
 *   output: z.object({ findings: z.array(z.string()) }),
 *   sections: [{ key: "task", title: "Task", render: ({ branch }) => `Review the branch ${branch}.` }],
 * });
 * const { output } = await evaluate(codex, review.bind({ branch: "main" }));
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- a prompt without parameters takes none
export function definePrompt<Params = {}, Output = undefined>(
  options: PromptOptions<Params, Output>,
): PromptDefinition<Params, Output> {
  rejectUnknownOptions("definePrompt", options, KNOWN as OptionKeys<PromptOptions<Params, Output>>);
  checkPromptName("ns", options.ns);
  checkPromptName("key", options.key);
  const name = `${options.ns}/${options.key}`;
  checkSections(name, options.sections, []);
  checkTools(name, options);
  const definition: PromptDefinition<Params, Output> = {
    ...options,
    name,
    bind: (...[params]) => {
      const { params: _schema, ...rest } = definition;
      return {
        definition: rest,
        params: parseParams(name, options.params, params),
      };
    },
  };
  return definition;
}

function parseParams(name: string, schema: StandardSchema | undefined, params: unknown): unknown {
  if (!schema) return {};
  const parsed = parseWith(schema, params ?? {});
  if ("value" in parsed) return parsed.value;
  throw new PromptError(
    "invalid_parameters",
    `The parameters of ${name} do not match its schema:\n${parsed.problem}`,
  );
}

function checkSections<Params>(
  name: string,
  sections: readonly Section<Params>[],
  parents: readonly string[],
): void {
  if (parents.length === 0 && sections.length === 0) {
    throw new PromptError("invalid_definition", `${name} has no sections.`);
  }
  const keys = new Set<string>();
  for (const section of sections) {
    checkSectionKey(section.key);
    const path = [...parents, section.key];
    if (keys.has(section.key)) {
      throw new PromptError("invalid_definition", `${name} has two sections "${path.join(".")}".`);
    }
    keys.add(section.key);
    if (section.visibility !== undefined && section.visibility !== "full" && section.summary === undefined) {
      throw new PromptError(
        "invalid_definition",
        `Section "${path.join(".")}" of ${name} can be summarised but has no summary.`,
      );
    }
    checkSections(name, section.children ?? [], path);
  }
}

function checkTools<Params>(
  name: string,
  options: { tools?: readonly AnyPromptTool[]; sections: readonly Section<Params>[] },
): void {
  const names = new Set<string>();
  const add = (tools: readonly AnyPromptTool[] = []): void => {
    for (const tool of tools) {
      if (names.has(tool.name)) {
        throw new PromptError("invalid_definition", `${name} has two tools named "${tool.name}".`);
      }
      names.add(tool.name);
    }
  };
  const addSections = (sections: readonly Section<Params>[] = []): void => {
    for (const section of sections) {
      add(section.tools);
      addSections(section.children);
    }
  };
  add(options.tools);
  addSections(options.sections);
}
