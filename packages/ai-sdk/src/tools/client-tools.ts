import type { JSONValue, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { type AnyTool, defineTool } from "codexkit";
import type { Call } from "../model/read-call.ts";
import type { AskDesk } from "../session/ask-desk.ts";

/** All tools of a thread: those of the call, which its client runs, and those of the provider. */
export function threadTools({ tools, providerTools }: Call, desk: AskDesk): AnyTool[] {
  return [...clientTools(tools, desk), ...providerTools];
}

/** The client's tools as tools of a thread: a call waits at the desk until the client brings its result. */
function clientTools(tools: readonly LanguageModelV4FunctionTool[], desk: AskDesk): AnyTool[] {
  return tools.map((tool) =>
    defineTool({
      name: tool.name,
      description: describe(tool),
      input: toolSchema(tool),
      // The turn's own limit holds, and the client is free to run them side by side.
      timeoutMs: Infinity,
      parallel: true,
      execute: async (input, { callId, signal }) => {
        const ask = { kind: "tool", id: callId, toolName: tool.name, input: input as JSONValue } as const;
        const outcome = await desk.callTool(ask, signal);
        if (outcome.type === "error") throw new Error(outcome.message);
        return outcome.result;
      },
    }),
  );
}

/** What a tool is to the model: a thread keeps it as it was when the thread began. */
export function toolFingerprints(tools: readonly LanguageModelV4FunctionTool[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, JSON.stringify([describe(tool), toolSchema(tool)])]));
}

type JsonSchemaObject = Parameters<typeof defineTool>[0]["input"] & Record<string, JSONValue>;

function toolSchema({ inputSchema }: LanguageModelV4FunctionTool): JsonSchemaObject {
  const { $schema: _, ...schema } = inputSchema;
  return schema as JsonSchemaObject;
}

/** Codex has no place for examples; the model reads them as well here. */
function describe({ description = "", inputExamples = [] }: LanguageModelV4FunctionTool): string {
  const examples = inputExamples.map(({ input }) => `Example input: ${JSON.stringify(input)}`);
  return [description, ...examples].filter((line) => line !== "").join("\n");
}
