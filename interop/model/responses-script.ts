import {
  callTool,
  type InputItem,
  type JsonObject,
  gate,
  type Part,
  type Reply,
  run,
  say,
  type ScriptRequest,
  usage,
  waitFor,
} from "@codexkit/scripted-model";
import { listOf, stringOf } from "./model-api.ts";
import { type ModelMessage, type ModelReply, playOrder, PROBE_COMMAND, REPLY_USAGE } from "./model-script.ts";

/** Never opened. A reply that waits for it ends when the agent gives up. */
const never = gate();

const USAGE = usage({
  input: REPLY_USAGE.inputTokens,
  cached: REPLY_USAGE.cachedInputTokens,
  output: REPLY_USAGE.outputTokens,
});

/** Plays the same orders on the scripted model, for agents that use OpenAI's Responses API. */
export function responsesScript({ input, toolNames }: ScriptRequest): Reply {
  const reply = playOrder(
    { messages: input.map(toMessage), tools: toolNames },
    { command: (command) => ({ type: "call", tool: "exec_command", input: { command } }) },
  );
  return [toPart(reply), USAGE];
}

function toPart(reply: ModelReply): Part {
  if (reply.type === "text") return say(reply.text);
  if (reply.type === "hang") return say([reply.text, waitFor(never)]);
  if (reply.tool === "exec_command") return toCommand(stringOf(reply.input["command"]));
  const at = reply.tool.lastIndexOf("__");
  const namespace = reply.tool.slice(0, at);
  return callTool(reply.tool.slice(at + 2), reply.input as JsonObject, { namespace });
}

/** Only commands that write need to leave the sandbox. */
function toCommand(command: string): Part {
  return command === PROBE_COMMAND
    ? run(command, { escalate: "The interop run checks that this is asked for." })
    : run(command);
}

function toMessage(item: InputItem): ModelMessage {
  const role = item["role"] === "user" ? "user" : "assistant";
  return {
    role,
    text: listOf(item["content"])
      .map(({ text }) => stringOf(text))
      .join("\n"),
    toolResults: item.type.endsWith("_output") ? 1 : 0,
  };
}
