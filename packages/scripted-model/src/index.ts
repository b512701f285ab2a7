// A local replacement for the model: a Responses API endpoint on loopback that plays scripts to the real Codex.
import "./require-node.ts";

// The endpoint and its recorded requests.
export { ScriptedModel } from "./scripted-model.ts";
export type { ScriptedModelOptions } from "./scripted-model.ts";
export type { WaitOptions } from "./request-log.ts";
export type { InputItem, ReplyEnd, ScriptRequest } from "./script-request.ts";
export type { CallOutput } from "./call-output.ts";
export type { CommandResult } from "./command-result.ts";
export type { ModelKind, OfferedTool } from "./offered-tools.ts";

// Scripts: a list of replies or a function of the request.
export type { Script, ScriptFunction } from "./script.ts";
export type { Awaitable, CallVia, MessagePhase, Part, Piece, Reply, ScriptedUsage } from "./part.ts";
export { demoScript } from "./demo-script.ts";

// Parts of a reply: messages, reasoning and tool calls.
export { say, think } from "./say.ts";
export type { SayOptions, StreamOptions, ThinkOptions } from "./say.ts";
export { askUser, callTool, code, patch, run, writeStdin } from "./calls.ts";
export type {
  ScriptedCallOptions,
  ScriptedQuestion,
  ScriptedRunOptions,
  ToolOptions,
  WriteStdinOptions,
} from "./calls.ts";

// Parts of a reply: timing, usage and failures.
export { cut, event, headers, item, pause, usage, waitFor } from "./flow.ts";
export { gate } from "./gate.ts";
export type { Gate } from "./gate.ts";
export { fail } from "./fail.ts";
export type { FailureCode, HttpFailure } from "./fail.ts";
export { defaultUsage } from "./sse.ts";

// Configuration that points Codex to the endpoint.
export { codexConfig, variablesToRemove, withoutModelVariables } from "./codex-config.ts";
export type { CodexConfig, CodexConfigOptions } from "./codex-config.ts";

// Limits and errors.
export { SCRIPTED_MODEL_LIMITS } from "./limits.ts";
export { ScriptedModelError } from "./errors.ts";
export type { ScriptedModelErrorCode } from "./errors.ts";
export type { Json, JsonObject } from "./json.ts";
