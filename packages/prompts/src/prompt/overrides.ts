import { messageOf } from "@codexkit/rpc/async";
import { createHash } from "node:crypto";
import { z } from "zod";
import { PromptError } from "../errors.ts";
import type { AnyPromptTool } from "../tools/define-prompt-tool.ts";
import type { Section } from "./section.ts";

const overridesFile = z.strictObject({
  version: z.literal(1),
  sections: z.record(z.string(), z.strictObject({ hash: z.string(), text: z.string() })),
  tools: z.record(z.string(), z.strictObject({ hash: z.string(), description: z.string() })),
});

/** Stored overrides, each with the hash of the text that it replaces. */
export type StoredOverrides = z.output<typeof overridesFile>;

/**
 * Replaces section texts and tool descriptions without code changes. An override contains the hash of the text that it replaces.
 * If the code has changed since, the override is stale and is not used.
 *
 * Texts may contain `{{name}}`, which is replaced with the parameter of that name.
 */
export class PromptOverrides {
  readonly #stored: StoredOverrides;
  readonly #stale = new Set<string>();

  /** @throws {PromptError} `invalid_snapshot` */
  constructor(stored: StoredOverrides) {
    const parsed = overridesFile.safeParse(stored);
    if (!parsed.success) {
      const problem = z.prettifyError(parsed.error);
      throw new PromptError("invalid_snapshot", `The overrides are invalid:\n${problem}`, {
        cause: parsed.error,
      });
    }
    this.#stored = parsed.data;
  }

  /**
   * Reads overrides from JSON.
   * @throws {PromptError} `invalid_snapshot`
   */
  static parse(json: string): PromptOverrides {
    let stored: unknown;
    try {
      stored = JSON.parse(json);
    } catch (cause) {
      const reason = messageOf(cause);
      throw new PromptError("invalid_snapshot", `The overrides are not JSON: ${reason}`, { cause });
    }
    return new PromptOverrides(stored as StoredOverrides);
  }

  /**
   * Paths and tool names of overrides that were not used when the prompt was last rendered, because their hash does not match or
   * the prompt has no such section or tool.
   */
  get stale(): readonly string[] {
    return [...this.#stale];
  }

  sectionText(path: string, section: Section<unknown>, params: unknown): string | undefined {
    const override = Object.hasOwn(this.#stored.sections, path) ? this.#stored.sections[path] : undefined;
    if (!override || section.acceptsOverrides === false) return undefined;
    if (!this.#isFresh(path, override.hash, hashSection(section))) return undefined;
    return fillPlaceholders(path, override.text, params);
  }

  toolDescription(tool: AnyPromptTool): string | undefined {
    const override = Object.hasOwn(this.#stored.tools, tool.name) ? this.#stored.tools[tool.name] : undefined;
    if (!override || !this.#isFresh(tool.name, override.hash, hashTool(tool))) return undefined;
    return override.description;
  }

  /** Marks overrides as stale whose section or tool the prompt does not have. Called before the prompt is rendered. */
  checkTargets(paths: ReadonlySet<string>, tools: ReadonlySet<string>): void {
    this.#stale.clear();
    for (const path of Object.keys(this.#stored.sections)) if (!paths.has(path)) this.#stale.add(path);
    for (const name of Object.keys(this.#stored.tools)) if (!tools.has(name)) this.#stale.add(name);
  }

  #isFresh(name: string, stored: string, current: string): boolean {
    if (stored === current) return true;
    this.#stale.add(name);
    return false;
  }
}

/**
 * Returns a hash of a section's text. A function is hashed by its source, so a code change makes its overrides stale, because
 * text that was written for the old code may not fit the new code.
 */
export function hashSection(section: Pick<Section<never>, "title" | "render">): string {
  return hash([section.title, String(section.render)]);
}

/** Returns a hash of a tool's contract: its description and input schema. */
export function hashTool(tool: AnyPromptTool): string {
  return hash([tool.name, tool.description, JSON.stringify(tool.inputSchema)]);
}

function hash(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function fillPlaceholders(path: string, text: string, params: unknown): string {
  const values = params as Readonly<Record<string, unknown>>;
  return text.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (_match, name: string) => {
    if (Object.hasOwn(values, name)) return String(values[name]);
    throw new PromptError(
      "invalid_parameters",
      `The override of section "${path}" uses the unknown parameter "${name}".`,
    );
  });
}
