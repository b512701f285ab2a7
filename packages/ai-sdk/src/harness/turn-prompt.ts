import type { HarnessV1Prompt, HarnessV1Skill, HarnessV1ToolSpec } from "@ai-sdk/harness";
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4FilePart,
} from "@ai-sdk/provider";

type UserPart = Extract<Exclude<HarnessV1Prompt, string>["content"], readonly unknown[]>[number];

/** Converts the input of a harness turn to a prompt for the model. */
export function turnPrompt(
  prompt: HarnessV1Prompt,
  { instructions, skills }: { readonly instructions?: string; readonly skills: readonly HarnessV1Skill[] },
): LanguageModelV4Prompt {
  const content = typeof prompt === "string" ? prompt : prompt.content;
  const parts =
    typeof content === "string" ? [{ type: "text", text: content } as const] : content.map(toPart);
  return [...system(instructions, skills), { role: "user", content: parts }];
}

/**
 * The turn's instructions. They include the text of its skills, because Codex reads skills only from files, which would have to
 * stay in the folder.
 */
function system(
  instructions: string | undefined,
  skills: readonly HarnessV1Skill[],
): LanguageModelV4Message[] {
  const texts = [...(instructions === undefined ? [] : [instructions]), ...skills.map(skillText)];
  return texts.length === 0 ? [] : [{ role: "system", content: texts.join("\n\n") }];
}

export function toFunctionTool({
  name,
  description,
  inputSchema,
}: HarnessV1ToolSpec): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: inputSchema ?? { type: "object" },
  };
}

function toPart(part: UserPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === "text") return { type: "text", text: part.text };
  // Untagged data is accepted too, see `readPrompt`.
  const data = (part.type === "image" ? part.image : part.data) as LanguageModelV4FilePart["data"];
  const filename = part.type === "file" ? part.filename : undefined;
  return {
    type: "file",
    mediaType: part.mediaType ?? "image",
    data,
    ...(filename === undefined ? {} : { filename }),
  };
}

function skillText({ name, description, content, files = [] }: HarnessV1Skill): string {
  const more = files.map((file) => `<file path=${JSON.stringify(file.path)}>\n${file.content}\n</file>`);
  return [`<skill name=${JSON.stringify(name)}>`, description, content, ...more, "</skill>"].join("\n");
}
