import type { JSONValue, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { type AnyTool, defineTool } from "codexkit";
import type { Call } from "../call/read-call.ts";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";
import type { ProviderTool } from "../tools/provider-tools.ts";

/** Returns all tools of a thread: the call's tools, which the client runs, and the provider's. */
export function threadTools({ tools, providerTools }: Call, broker: ClientRequestBroker): AnyTool[] {
  return [...clientTools(tools, broker), ...providerTools.map((tool) => currentTool(tool, broker))];
}

/** Runs the current call's function, because a thread outlives its first call and later calls may have other functions. */
function currentTool(tool: ProviderTool, broker: ClientRequestBroker): ProviderTool {
  return {
    ...tool,
    invoke: async (input, context) => broker.providerTool(tool.name).invoke(input, context),
  };
}

/** Converts client tools to thread tools. Their calls wait in the broker until the client delivers the result. */
function clientTools(tools: readonly LanguageModelV4FunctionTool[], broker: ClientRequestBroker): AnyTool[] {
  return tools.map((tool) =>
    defineTool({
      name: tool.name,
      description: describe(tool),
      input: toolSchema(tool),
      // The turn's own limit applies. No limit per call, because the client may run tools in parallel.
      timeoutMs: Infinity,
      parallel: true,
      execute: async (input, { callId, signal }) => {
        const request = { kind: "tool", id: callId, toolName: tool.name, input: input as JSONValue } as const;
        const outcome = await broker.callTool(request, signal);
        if (outcome.type === "error") throw new Error(outcome.message);
        return outcome.result;
      },
    }),
  );
}

/** Returns a fingerprint of each tool's definition and owner. A thread keeps the tools that it was started with. */
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

/** Adds the input examples to the description, because Codex's tools have no field for them. */
function describe({ description = "", inputExamples = [] }: LanguageModelV4FunctionTool): string {
  const examples = inputExamples.map(({ input }) => `Example input: ${JSON.stringify(input)}`);
  return [description, ...examples].filter((line) => line !== "").join("\n");
}
