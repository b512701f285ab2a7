import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codexConfig, ScriptedModel } from "@codexkit/scripted-model";
import { AGENT_MODULES } from "./install-agents.ts";
import type { AgentDefinition, AgentFolders, AgentSetup } from "./agent-definition.ts";
import { anthropicMessages } from "./model/anthropic-messages.ts";
import { chatCompletions } from "./model/chat-completions.ts";
import { FakeEndpoint } from "./model/fake-endpoint.ts";
import { geminiContent } from "./model/gemini-content.ts";
import type { ModelApi } from "./model/model-api.ts";
import { type AgentTools, playOrder } from "./model/model-script.ts";
import { responsesScript } from "./model/responses-script.ts";

/** All agents of the interop run, in the order of the report. */
export const AGENTS: readonly AgentDefinition[] = [
  {
    name: "codex-acp",
    package: "@agentclientprotocol/codex-acp",
    api: "OpenAI Responses",
    configuration: "mode `read-only`, in which it asks before a command leaves the sandbox",
    mode: "read-only",
    sampleModel: "gpt-5.5",
    sampleMode: "workspace-write",
    setUp: (folders) => codexSetup(folders, "@agentclientprotocol/codex-acp/dist/index.js"),
  },
  {
    name: "zed-codex-acp",
    package: "@zed-industries/codex-acp",
    api: "OpenAI Responses",
    configuration: "its default mode, `read-only`",
    sampleModel: "gpt-5.5",
    sampleMode: "auto",
    setUp: (folders) => codexSetup(folders, "@zed-industries/codex-acp/bin/codex-acp.js"),
  },
  {
    name: "claude-agent-acp",
    package: "@agentclientprotocol/claude-agent-acp",
    api: "Anthropic Messages",
    configuration: "its default mode, `default`; MCP tools are offered without a search",
    sampleModel: "sonnet",
    sampleMode: "acceptEdits",
    setUp: async ({ home }) => {
      const endpoint = await startEndpoint(anthropicMessages, {
        command: (command) => ({ type: "call", tool: "Bash", input: { command, description: "Probe" } }),
      });
      return nodeSetup(endpoint, ["@agentclientprotocol/claude-agent-acp/dist/index.js"], {
        ANTHROPIC_API_KEY: "sk-ant-interop",
        ANTHROPIC_BASE_URL: endpoint.url,
        CLAUDE_CONFIG_DIR: join(home, ".claude"),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ENABLE_TOOL_SEARCH: "false",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
      });
    },
  },
  {
    name: "opencode",
    package: "opencode-ai",
    api: "OpenAI chat completions",
    configuration: '`permission: { "*": "ask" }`, with which it asks before every tool',
    note: "It reports the usage of the last model call only.",
    asksPermission: "always",
    sampleModel: "fake/other",
    sampleMode: "plan",
    setUp: async ({ home }) => {
      const endpoint = await startEndpoint(chatCompletions, {
        command: (command) => ({ type: "call", tool: "bash", input: { command, description: "Probe" } }),
      });
      const config = {
        autoupdate: false,
        share: "disabled",
        model: "fake/interop",
        small_model: "fake/interop",
        enabled_providers: ["fake"],
        permission: { "*": "ask" },
        provider: {
          fake: {
            npm: "@ai-sdk/openai-compatible",
            name: "Fake",
            options: { baseURL: `${endpoint.url}/v1`, apiKey: "interop" },
            models: { interop: { name: "Interop" }, other: { name: "Other" } },
          },
        },
      };
      await writeFile(join(home, "opencode.json"), JSON.stringify(config));
      const setup = nodeSetup(endpoint, [], {
        OPENCODE_CONFIG: join(home, "opencode.json"),
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      });
      return { ...setup, command: openCodeBinary(), args: ["acp"] };
    },
  },
  {
    name: "qwen-code",
    package: "@qwen-code/qwen-code",
    api: "OpenAI chat completions",
    configuration:
      "mode `default`; MCP servers are connected before the first prompt (`QWEN_CODE_LEGACY_MCP_BLOCKING`), and their tools are offered without a search",
    mode: "default",
    behaviours: [
      {
        failure: /session_writer_unavailable/,
        explanation:
          "Qwen Code writes the transcript of a session some time after the prompt arrived, and refuses to load a session without one. A session that is stopped earlier can't be resumed.",
      },
    ],
    sampleModel: "interop",
    sampleMode: "auto-edit",
    setUp: async ({ home }) => {
      const endpoint = await startEndpoint(chatCompletions, {
        command: (command) => ({
          type: "call",
          tool: "run_shell_command",
          input: { command, is_background: false, description: "Probe" },
        }),
      });
      await writeSettings(join(home, ".qwen"), {
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: "openai" } },
        tools: { toolSearch: { enabled: false } },
      });
      return nodeSetup(endpoint, ["@qwen-code/qwen-code/cli-entry.js", "--acp"], {
        OPENAI_API_KEY: "interop",
        OPENAI_BASE_URL: `${endpoint.url}/v1`,
        OPENAI_MODEL: "interop",
        QWEN_CODE_LEGACY_MCP_BLOCKING: "1",
      });
    },
  },
  {
    name: "gemini-cli",
    package: "@google/gemini-cli",
    api: "Gemini generateContent",
    configuration: "its default mode, `default`",
    note: "It does not send the output of commands.",
    behaviours: [
      {
        failure: /Invalid session identifier/,
        explanation:
          "Gemini CLI names the file of a session after the minute in which the session was created, and overwrites it if the session is loaded within that minute. The history is then lost. The probe resumes a session a minute later, which works.",
      },
    ],
    sampleMode: "autoEdit",
    setUp: async ({ home }) => {
      const endpoint = await startEndpoint(geminiContent, {
        command: (command) => ({ type: "call", tool: "run_shell_command", input: { command } }),
      });
      await writeSettings(join(home, ".gemini"), {
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: "gemini-api-key" } },
      });
      return nodeSetup(endpoint, ["@google/gemini-cli/bundle/gemini.js", "--acp"], {
        GEMINI_API_KEY: "interop",
        GOOGLE_GEMINI_BASE_URL: endpoint.url,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        // Otherwise it restarts itself with more memory, and killing it leaves the new process behind.
        GEMINI_CLI_NO_RELAUNCH: "true",
      });
    },
  },
];

function startEndpoint(api: ModelApi, tools: AgentTools): Promise<FakeEndpoint> {
  return FakeEndpoint.start(api, (request) => playOrder(request, tools));
}

/** The setup of an agent that is a Node program from the installed packages. */
function nodeSetup(
  endpoint: FakeEndpoint,
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): AgentSetup {
  return {
    command: process.execPath,
    args: [...(program === undefined ? [] : [join(AGENT_MODULES, program)]), ...args],
    env,
    modelCalls: () => endpoint.modelCalls,
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
}

async function codexSetup({ home }: AgentFolders, program: string): Promise<AgentSetup> {
  const model = await ScriptedModel.start(responsesScript);
  const codexHome = join(home, ".codex");
  await mkdir(codexHome);
  const { toml } = codexConfig(model, { model: "mock-model", retries: 0 });
  await writeFile(join(codexHome, "config.toml"), toml);
  return {
    command: process.execPath,
    args: [join(AGENT_MODULES, program)],
    // Codex reads all of the machine's certificates for each request, even without TLS.
    env: { CODEX_HOME: codexHome, SSL_CERT_FILE: "/dev/null" },
    modelCalls: () => model.requestCount,
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}

/** The package's launcher is created by an install script, which is not run. */
function openCodeBinary(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = platform === "windows" ? "opencode.exe" : "opencode";
  return join(AGENT_MODULES, `opencode-${platform}-${process.arch}`, "bin", name);
}

async function writeSettings(folder: string, settings: object): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings));
}
