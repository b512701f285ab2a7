import { isAbsolute } from "node:path";
import { type OptionKeys, rejectUnknownOptions, type StandardSchema } from "codexkit";
import { checkValue, hasMethods, isFunction, isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import type { CompletionChecker } from "../guardrails/completion.ts";
import { checkProvider, type FeedbackProvider } from "../guardrails/feedback.ts";
import type { ResourceOverride } from "../resources/define-resource.ts";
import type { AnyPromptTool } from "../tools/define-prompt-tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import { parseWith } from "../parse-with.ts";
import { checkPromptName, checkSectionKey } from "./names.ts";
import type { Section } from "./section.ts";

export interface PromptOptions<Params, Output> {
  /** Namespace that groups prompts, such as `reviews`. */
  readonly ns: string;
  /** The prompt's name in its namespace. */
  readonly key: string;
  /** Schema of the parameters that sections read. Default: no parameters. */
  readonly params?: StandardSchema<Params>;
  /** Schema of the output. Default: the output is text. */
  readonly output?: StandardSchema<Output>;
  readonly sections: readonly Section<Params>[];
  /** Tools that are always available. */
  readonly tools?: readonly AnyPromptTool[];
  /** Policies that apply to every tool. All must allow a call. */
  readonly policies?: readonly ToolPolicy[];
  /** Providers that append advice to tool results. */
  readonly feedback?: readonly FeedbackProvider[];
  /** Decides whether the task is complete when the agent stops. */
  readonly completion?: CompletionChecker;
  /** Replacements for resources that tools use, such as fakes in tests. */
  readonly resources?: readonly ResourceOverride[];
}

/** A prompt without parameters bound: a portable description of an agent. */
export interface PromptDefinition<Params, Output> extends PromptOptions<Params, Output> {
  /** `ns/key`. */
  readonly name: string;
  /**
   * Binds the parameters.
   * @throws {PromptError} `invalid_parameters`
   */
  bind(...params: keyof Params extends never ? [] : [params: Params]): Prompt<Output>;
}

/** A prompt with its parameters bound, for `evaluate`. */
export interface Prompt<Output> {
  readonly definition: AnyPromptDefinition<Output>;
  readonly params: unknown;
}

/** A definition whose parameters have already been checked. */
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
  checkGuardrails(name, options);
  checkSections(name, options.sections, []);
  checkTools(name, options);
  checkPolicyNames(name, [...(options.policies ?? []), ...listPolicies(options.sections)]);
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
  if (!schema) {
    if (Object.keys(params ?? {}).length === 0) return {};
    throw new PromptError("invalid_parameters", `${name} has no parameters, but bind() received some.`);
  }
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
    checkSection(`Section "${path.join(".")}" of ${name}`, section);
    if (keys.has(section.key)) {
      throw new PromptError("invalid_definition", `${name} has two sections "${path.join(".")}".`);
    }
    keys.add(section.key);
    if (section.visibility !== undefined && section.visibility !== "full" && section.summary === undefined) {
      throw new PromptError(
        "invalid_definition",
        `Section "${path.join(".")}" of ${name} can be summarised but has no summary. Add one.`,
      );
    }
    checkSections(name, section.children ?? [], path);
  }
}

const KNOWN_SECTION: OptionKeys<Section<never>> = {
  key: true,
  title: true,
  render: true,
  summary: true,
  visibility: true,
  enabled: true,
  children: true,
  tools: true,
  skills: true,
  policies: true,
  acceptsOverrides: true,
};

function checkSection<Params>(what: string, section: Section<Params>): void {
  rejectUnknownOptions(what, section, KNOWN_SECTION as OptionKeys<Section<Params>>);
  const check = (key: keyof Section<Params>, expected: string, isValid: (value: unknown) => boolean): void =>
    checkValue(`${what}: ${key}`, section[key] ?? undefined, expected, isValid, "invalid_definition");
  const isText = (value: unknown): boolean => isString(value) || isFunction(value);
  if (!isString(section.title) || section.title.trim() === "")
    throw new PromptError("invalid_definition", `${what} has no title.`);
  if (!isText(section.render))
    throw new PromptError("invalid_definition", `${what}: render must be a string or a function.`);
  check("summary", "a string or a function", isText);
  check(
    "visibility",
    '"full", "summary" or a function',
    (value) => value === "full" || value === "summary" || isFunction(value),
  );
  check("enabled", "a function", isFunction);
  check("children", "an array of sections", Array.isArray);
  check("tools", "an array of tools", Array.isArray);
  check("policies", "an array of policies", Array.isArray);
  check("skills", "an array of { name, path }", Array.isArray);
  for (const skill of section.skills ?? []) {
    checkValue(
      `${what}: skill "${skill.name}": path`,
      skill.path,
      "an absolute path",
      isAbsolutePath,
      "invalid_definition",
    );
  }
}

function isAbsolutePath(value: unknown): boolean {
  return typeof value === "string" && isAbsolute(value);
}

/** Checks the types at run time, for callers without type checking. */
function checkGuardrails<Params, Output>(name: string, options: PromptOptions<Params, Output>): void {
  const check = (
    what: string,
    value: unknown,
    expected: string,
    isValid: (value: unknown) => boolean,
  ): void => checkValue(`${name}: ${what}`, value, expected, isValid, "invalid_definition");
  check("sections", options.sections ?? null, "an array of sections", Array.isArray);
  check("tools", options.tools, "an array of tools", Array.isArray);
  check("policies", options.policies, "an array of policies", Array.isArray);
  check("feedback", options.feedback, "an array of providers", Array.isArray);
  check("resources", options.resources, "an array of overrides", Array.isArray);
  check("completion", options.completion, "an object with a check method", (value) =>
    hasMethods(value, "check"),
  );
  for (const policy of options.policies ?? [])
    check(`policy "${policy.name}"`, policy, "an object with a check method", (value) =>
      hasMethods(value, "check"),
    );
  for (const provider of options.feedback ?? []) checkProvider(name, provider);
}

/** Rejects policies that share a name, because state is stored by name. The same policy may apply to several sections. */
function checkPolicyNames(prompt: string, policies: readonly ToolPolicy[]): void {
  const names = [...new Set(policies)].map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new PromptError(
    "invalid_definition",
    `${prompt} has two policies named "${twice}", which would share their state. Rename one of them.`,
  );
}

function listPolicies<Params>(sections: readonly Section<Params>[]): readonly ToolPolicy[] {
  return sections.flatMap(({ policies = [], children = [] }) => [...policies, ...listPolicies(children)]);
}

/** Names of the tools that are added to prompts with summarised sections. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["read_section", "open_sections"]);

function checkTools<Params>(
  name: string,
  options: { tools?: readonly AnyPromptTool[]; sections: readonly Section<Params>[] },
): void {
  const names = new Set<string>();
  const add = (tools: readonly AnyPromptTool[] = []): void => {
    for (const tool of tools) {
      checkValue(
        `A tool of ${name}`,
        tool,
        "created by definePromptTool",
        (value) => hasMethods(value, "parse", "run"),
        "invalid_definition",
      );
      if (RESERVED_NAMES.has(tool.name)) {
        throw new PromptError(
          "invalid_definition",
          `${name}: the tool name "${tool.name}" is reserved for the tool that opens sections. Choose another.`,
        );
      }
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
