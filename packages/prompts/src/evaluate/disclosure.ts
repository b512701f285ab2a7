import { z } from "zod";
import type { RenderedPrompt, RenderedTool } from "../prompt/render-prompt.ts";
import { definePromptTool, ToolFailure } from "../tools/define-prompt-tool.ts";

/**
 * Creates the tools that give an agent access to summarised sections. `read_section` returns the text. `open_sections` also makes
 * the sections' tools available, which ends the turn and starts a new one with the sections opened.
 *
 * @param rendered Returns the currently rendered prompt, in which opened sections are no longer summarised.
 */
export function disclosureTools(
  rendered: () => RenderedPrompt,
  onOpen: (keys: readonly string[]) => void,
): readonly RenderedTool[] {
  const summarised = (): ReadonlyMap<string, string> =>
    new Map(
      rendered().sections.flatMap(({ path, visibility, fullText }) =>
        visibility === "summary" ? [[path, fullText]] : [],
      ),
    );
  const find = (key: string): string => {
    const text = summarised().get(key);
    if (text !== undefined) return text;
    const keys = [...summarised().keys()].join(", ");
    throw new ToolFailure(
      `No summarised section has the key "${key}". Summarised sections: ${keys || "none"}.`,
    );
  };
  const read = definePromptTool({
    name: "read_section",
    description: "Returns the full text of a summarised section of the instructions.",
    input: z.strictObject({ key: z.string() }),
    handler: ({ key }) => find(key),
  });
  const open = definePromptTool({
    name: "open_sections",
    description:
      "Opens summarised sections of the instructions, so that their text is shown and their tools can be used.",
    input: z.strictObject({ keys: z.array(z.string()).min(1), reason: z.string() }),
    handler: ({ keys }) => {
      for (const key of keys) find(key);
      onOpen(keys);
      return `Opening ${keys.join(", ")}. The text follows in the next message.`;
    },
  });
  return [read, open].map((tool) => ({
    tool,
    description: tool.description,
    policies: [],
    closedBy: undefined,
  }));
}

/** Returns the message that continues the agent's work after sections are opened. */
export function openedMessage(rendered: RenderedPrompt, keys: readonly string[]): string {
  const texts = rendered.sections.filter(({ path }) => keys.includes(path)).map(({ fullText }) => fullText);
  return [`These sections are open now. Continue with the task.`, ...texts].join("\n\n");
}
