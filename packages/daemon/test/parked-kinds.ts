import {
  askUser,
  callTool,
  code,
  patch,
  run,
  say,
  type ScriptFunction,
  type ScriptRequest,
  writeStdin,
} from "@codexkit/scripted-model";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { InboxAnswer } from "../src/api/approval.ts";
import type { CreateSession } from "../src/api/settings.ts";
import type { TestRunnerOptions } from "./start-runner.ts";

/** A turn that waits for an answer, for one kind of request. What it runs appends to a file with the name of its message. */
export interface ParkedKind {
  readonly session?: Partial<CreateSession>;
  readonly ask: (request: ScriptRequest, name: string) => ReturnType<ScriptFunction>;
  /** The ID of the call that waits. */
  readonly callId: string;
  /** Number of requests that wait at the same time. Default: 1. */
  readonly requests?: number;
  readonly accept?: InboxAnswer;
  readonly decline?: InboxAnswer;
  /** The output that the model receives if the request is accepted or declined. */
  readonly accepted: RegExp;
  readonly declined: RegExp;
  /** How often commands, patches and tools run if they are accepted. */
  readonly runs: number;
  readonly strategies: readonly [accepted: string, declined: string];
}

const ACCEPT: InboxAnswer = { type: "decision", offer: "accept" };
const DECLINE: InboxAnswer = { type: "decision", offer: "decline" };
const agents = { namespace: "multi_agent_v1" };

const mcpServers = {
  till: {
    command: process.execPath,
    args: ["--conditions=codexkit:source", join(import.meta.dirname, "../../sdk/test/mcp-server.ts")],
  },
};

const mark = (name: string): string => `echo ran >> ${name}; echo printed; echo warned >&2; exit 3`;

/** A patch that can't be applied twice. */
const newFile = (name: string): string => `*** Begin Patch\n*** Add File: ${name}\n+ran\n*** End Patch`;

const writesCode = { model: "gpt-6.1-sol" };

const cell = (source: string) =>
  code(`try { ${source} } catch (error) { text("caught " + error); }`, { callId: "call" });

/** A call of a code cell that runs a command outside the sandbox. */
const commandInCell = (cmd: string): string =>
  `tools.exec_command(${JSON.stringify({ cmd, sandbox_permissions: "require_escalated", justification: "why" })})`;

export const PARKED_KINDS: Readonly<Record<string, ParkedKind>> = {
  command: {
    ask: (_, name) => run(mark(name), { callId: "call", escalate: "It writes." }),
    callId: "call",
    accepted:
      /^Chunk ID: \w{6}\nWall time: [\d.]+ seconds\nProcess exited with code 3\nOriginal token count: 4\nOutput:\nprinted\nwarned\n$/,
    declined: /^exec_command failed: CreateProcess \{ message: "Rejected\(\\"rejected by user\\"\)" \}$/,
    runs: 1,
    strategies: ["inject", "inject"],
  },
  "terminal input": {
    ask: (request, name) => {
      const terminal = request.commandResult("open")?.sessionId;
      return terminal === undefined
        ? run("cat", { callId: "open", tty: true, yieldMs: 250 })
        : writeStdin(terminal, `echo ran >> ${name}\n`, { callId: "call" });
    },
    callId: "call",
    accepted:
      /^A person accepted the terminal input write_stdin .*echo ran >> .*\. The process of the terminal has ended/s,
    declined:
      /^A person declined the terminal input write_stdin .*echo ran >> .*\. The process of the terminal has ended/s,
    runs: 0,
    strategies: ["report", "report"],
  },
  patch: {
    session: { model: "gpt-5.5" },
    ask: (_, name) => patch(newFile(name), { callId: "call" }),
    callId: "call",
    accepted:
      /^Exit code: 0\nWall time: [\d.]+ seconds\nOutput:\nSuccess\. Updated the following files:\nA \S+\n$/,
    declined: /^patch rejected by user$/,
    runs: 1,
    strategies: ["inject", "inject"],
  },
  "patch as a command": {
    ask: (_, name) => patch(newFile(name), { callId: "call" }),
    callId: "call",
    accepted:
      /^Wall time: [\d.]+ seconds\nOutput:\nExit code: 0\nWall time: [\d.]+ seconds\nOutput:\nSuccess\./,
    declined: /^patch rejected by user$/,
    runs: 1,
    strategies: ["inject", "inject"],
  },
  permissions: {
    ask: (request, name) =>
      request.output("call")
        ? run(mark(name), { callId: "after" })
        : callTool(
            "request_permissions",
            { reason: "needed", permissions: { file_system: { write: [workspaceOf(request)] } } },
            { callId: "call" },
          ),
    callId: "call",
    accepted: /^\{"permissions":\{"network":null,"file_system":\{"write":\["[^"]+"\]\}\},"scope":"turn"\}$/,
    declined: /^\{"permissions":\{"network":null,"file_system":null\},"scope":"turn"\}$/,
    runs: 1,
    strategies: ["rewind", "inject"],
  },
  question: {
    session: { agentMode: "plan", model: "gpt-5.5" },
    ask: () => {
      const options = ["blue", "mauve"].map((label) => ({ label, description: label }));
      return askUser([{ id: "q", header: "Colour", question: "Which?", options }], { callId: "call" });
    },
    callId: "call",
    accept: { type: "answers", answers: { q: "mauve" } },
    decline: { type: "answers", answers: {} },
    accepted: /^\{"answers":\{"q":\{"answers":\["mauve"\]\}\}\}$/,
    declined: /^\{"answers":\{\}\}$/,
    runs: 0,
    strategies: ["inject", "inject"],
  },
  "MCP tool": {
    session: { mcpServers },
    ask: (_, name) => callTool("pay", { amount: 3, file: name }, { namespace: "mcp__till", callId: "call" }),
    callId: "call",
    accepted: /^Wall time: [\d.]+ seconds\nOutput:\n?\{"paid":3\}$/,
    declined: /^Wall time: [\d.]+ seconds\nOutput:\n?user rejected MCP tool call$/,
    runs: 1,
    strategies: ["inject", "inject"],
  },
  "MCP form": {
    session: { mcpServers },
    ask: () => callTool("ask", {}, { namespace: "mcp__till", callId: "call" }),
    callId: "call",
    accept: { type: "elicitation", action: "accept", content: { name: "Ann" } },
    decline: { type: "elicitation", action: "decline" },
    accepted: /The answer was: accept with \{"name":"Ann"\}\. .* has not received the answer/,
    declined: /The answer was: decline\. .* has not received the answer/,
    runs: 0,
    strategies: ["report", "report"],
  },
  "MCP page": {
    session: { mcpServers },
    ask: () => callTool("visit", {}, { namespace: "mcp__till", callId: "call" }),
    callId: "call",
    accept: { type: "elicitation", action: "accept" },
    decline: { type: "elicitation", action: "decline" },
    accepted: /The answer was: accept\. .* has not received the answer/,
    declined: /The answer was: decline\. .* has not received the answer/,
    runs: 0,
    strategies: ["report", "report"],
  },
  "code cell": {
    session: writesCode,
    ask: (_, name) => cell(`text((await ${commandInCell(mark(name))}).output);`),
    callId: "call",
    // Codex does not preserve the order of the two streams.
    accepted: /printed\nwarned|warned\nprinted/,
    declined: /caught .*rejected by user/,
    runs: 1,
    strategies: ["rewind", "rewind"],
  },
  "two commands in a code cell": {
    session: writesCode,
    ask: (_, name) => {
      const commands = ["first", "second"].map((word) => commandInCell(`echo ran >> ${name}; echo ${word}`));
      return cell(
        `for (const {status, value, reason} of await Promise.allSettled([${commands.join()}])) text(status + " " + (value?.output ?? reason));`,
      );
    },
    callId: "call",
    requests: 2,
    accepted: /fulfilled first\s+fulfilled second/,
    declined: /rejected .*rejected by user[^]*rejected .*rejected by user/,
    runs: 2,
    strategies: ["rewind", "rewind"],
  },
  "patch in a code cell": {
    session: writesCode,
    ask: (_, name) =>
      cell(`text("applied " + JSON.stringify(await tools.apply_patch(${JSON.stringify(newFile(name))})));`),
    callId: "call",
    accepted: /applied \{\}/,
    declined: /caught .*patch rejected by user/,
    runs: 1,
    strategies: ["rewind", "rewind"],
  },
  "MCP tool in a code cell": {
    session: { ...writesCode, mcpServers },
    ask: (_, name) =>
      cell(`text(JSON.stringify(await tools.mcp__till__pay({amount: 3, file: ${JSON.stringify(name)}})));`),
    callId: "call",
    accepted: /paid\W+3/,
    declined: /user rejected MCP tool call/,
    runs: 1,
    strategies: ["rewind", "rewind"],
  },
  "permissions in a code cell": {
    session: writesCode,
    ask: () =>
      cell(
        `text(JSON.stringify(await tools.request_permissions({reason: "needed", permissions: {network: {enabled: true}}})));`,
      ),
    callId: "call",
    accepted: /network\W+enabled\W+true/,
    declined: /network\W+null/,
    runs: 0,
    strategies: ["rewind", "rewind"],
  },
  "form in a code cell": {
    session: { ...writesCode, mcpServers },
    ask: () => cell("text(JSON.stringify(await tools.mcp__till__ask({})));"),
    callId: "call",
    accept: { type: "elicitation", action: "accept", content: { name: "Ann" } },
    decline: { type: "elicitation", action: "decline" },
    accepted: /The answer was: accept with \{"name":"Ann"\}\. .* has not received the answer/,
    declined: /The answer was: decline\. .* has not received the answer/,
    runs: 0,
    strategies: ["report", "report"],
  },
  "code cell that has run something": {
    session: writesCode,
    ask: (_, name) =>
      code(
        `text(await tools.exec_command({cmd: "echo first"}));\ntext(await ${commandInCell(mark(name))});`,
        { callId: "call" },
      ),
    callId: "call",
    accepted: /A person accepted the command .*was not carried out/,
    declined: /A person declined the command .*was not carried out/,
    runs: 0,
    strategies: ["report", "report"],
  },
  agent: {
    ask: (request, name) => {
      if (request.lastUserText.startsWith("child of")) {
        return request.commandResult("inner")
          ? say("child done")
          : run(mark(name), { callId: "inner", escalate: "why" });
      }
      const [spawned] = request.outputs;
      if (!spawned)
        return callTool("spawn_agent", { message: `child of ${name}` }, { ...agents, callId: "spawn" });
      const id = /"agent_id":"([^"]+)"/.exec(spawned.text)?.[1] ?? "";
      return callTool("wait_agent", { targets: [id] }, { ...agents, callId: "call" });
    },
    callId: "call",
    accepted:
      /The agent \S+ asked for the command .*, which a person accepted\..*nothing of this was carried out/,
    declined: /The agent \S+ asked for the command .*, which a person declined\./,
    runs: 0,
    strategies: ["report", "report"],
  },
};

export const answerFor = (kind: ParkedKind, decision: "accept" | "decline"): InboxAnswer =>
  decision === "accept" ? (kind.accept ?? ACCEPT) : (kind.decline ?? DECLINE);

/** Makes the call until it has an output, then replies with the output. The message is `<name>`, which starts with the kind. */
export const parkedScript: ScriptFunction = (request) => {
  const name = request.lastUserText.replace("child of ", "");
  const kind = PARKED_KINDS[name.replace(/-\w+-\w+$/, "").replaceAll("_", " ")];
  if (!kind) return say(`received: ${name}`);
  const outputs = request.outputs.filter(({ callId }) => callId === kind.callId);
  if (outputs.length === 0 || (kind === PARKED_KINDS["permissions"] && !request.output("after"))) {
    return kind.ask(request, name);
  }
  return say(JSON.stringify(outputs.map(({ text }) => text)));
};

export const PARKED_OPTIONS: TestRunnerOptions = { limits: { retryMs: 20, claimMs: 50 } };

/** Configures the Codex of a daemon so that it sends each kind of request. */
export async function prepareCodex(stateFolder: string): Promise<void> {
  const home = join(stateFolder, "codex");
  await appendFile(join(home, "config.toml"), "features.request_permissions_tool=true\n");
  // Codex runs `cat` outside the sandbox without a request. It asks before it writes to such a terminal.
  await mkdir(join(home, "rules"), { recursive: true });
  await writeFile(join(home, "rules/default.rules"), `prefix_rule(pattern = ["cat"], decision = "allow")\n`);
}

/** How often a message has run something. */
export async function runsOf(workspace: string, name: string): Promise<number> {
  const text = await readFile(join(workspace, name), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line === "ran").length;
}

function workspaceOf(request: ScriptRequest): string {
  return /<cwd>([^<]+)<\/cwd>/.exec(JSON.stringify(request.input))?.[1] ?? "";
}
