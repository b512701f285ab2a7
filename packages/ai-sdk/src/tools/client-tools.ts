import type { JSONValue, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { type AnyTool, defineTool } from "codexkit";
import type { Call } from "../model/read-call.ts";
import type { AskDesk } from "../session/ask-desk.ts";
import type { ProviderTool } from "./provider-tools.ts";

/** All tools of a thread: those of the call, which its client runs, and those of the provider. */
export function threadTools({ tools, providerTools }: Call, desk: AskDesk): AnyTool[] {
  return [...clientTools(tools, desk), ...providerTools.map((tool) => currentTool(tool, desk))];
}

/** A provider's tool as the current call has it: a thread outlives its first call, and later ones may have other functions. */
function currentTool(tool: ProviderTool, desk: AskDesk): ProviderTool {
  return {
    ...tool,
    invoke: async (input, context) => desk.providerTool(tool.name).invoke(input, context),
  };
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

/** What each tool is to the model, and who runs it: a thread keeps both as they were when it began. */
export function toolFingerprints({
  tools,
  providerTools,
}: Pick<Call, "tools" | "providerTools">): ReadonlyMap<string, string> {
  return new Map([
    ...tools.map((tool) => [tool.name, fingerprint("client", describe(tool), toolSchema(tool))] as const),
    ...providerTools.map(
      ({ name, description, inputSchema, timeoutMs }) =>
        [name, fingerprint("provider", description, inputSchema, timeoutMs)] as const,
    ),
  ]);
}

function fingerprint(...parts: readonly unknown[]): string {
  return JSON.stringify(parts);
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
