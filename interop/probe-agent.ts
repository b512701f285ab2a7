import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { withTimeout } from "@codexkit/rpc/async";
import type { AgentEvent, AgentSpec, ProviderError } from "@codexkit/provider";
import type { AcpProvider } from "@codexkit/provider/acp";
import type { Finding } from "./agent-report.ts";
import { order, PROBE_FILE, REPLY_USAGE } from "./model/model-script.ts";

export interface ProbeContext {
  readonly provider: AcpProvider;
  readonly workspace: string;
  readonly spec: (prompt: string, more?: Partial<AgentSpec>) => AgentSpec;
  readonly servers: AgentSpec["mcpStdioServers"];
  readonly onProbe: (what: string) => void;
}

/** Time limit of a probe session, which normally takes a few seconds. */
const PROBE_MS = 60_000;

/** Time limit of a whole probe: the wait for the next minute, plus a session that uses its full time to open and to run. */
const PROBE_LIMIT_MS = 180_000;

const MINUTE_MS = 60_000;

/** Checks what the conformance suite can't: how tools, permission requests and usage are reported, and what is enforced. */
export async function probeAgent(context: ProbeContext): Promise<readonly Finding[]> {
  const { provider } = context;
  const earlier = await createSession(context);
  const probes: readonly (readonly [string, () => Promise<string>])[] = [
    ["auth methods", () => Promise.resolve(authMethods(provider))],
    [
      "injection",
      () => Promise.resolve(provider.capabilities.supportsMessageInjection ? "by steering" : "no"),
    ],
    ["usage of one model call", () => usageOf(context, order("say", "hello"), 1)],
    ["usage of two model calls", () => usageOf(context, order("tool"), 2)],
    ["a command", () => toolOf(context, order("tool"), "command")],
    ["a tool of an MCP server", () => toolOf(context, order("server"), "mcp")],
    ["asks before a command that writes", () => asks(context, order("tool"))],
    ["asks before a command that only reads", () => asks(context, order("read"))],
    ["a denied command", () => denied(context)],
    ["an unknown session", () => unknownSession(context)],
    ["a session that is resumed a minute later", () => resumedLater(context, earlier)],
  ];
  const findings: Finding[] = [];
  for (const [what, probe] of probes) {
    context.onProbe(what);
    const seen = withTimeout(
      probe(),
      PROBE_LIMIT_MS,
      () => new Error(`no answer within ${PROBE_LIMIT_MS} ms`),
    );
    findings.push({ what, seen: await seen.catch((error: unknown) => `failed: ${String(error)}`) });
  }
  return findings;
}

interface EarlierSession {
  readonly sessionId: string;
  readonly atMs: number;
}

/** The word that a session receives and should remember when it is resumed. */
const WORD = "heron";

async function createSession({ provider, spec }: ProbeContext): Promise<EarlierSession> {
  await using handle = await provider.spawn(spec(order("say", WORD), { timeoutMs: PROBE_MS }));
  await Array.fromAsync(handle.events);
  return { sessionId: handle.sessionId, atMs: performance.now() };
}

/** The conformance suite resumes immediately, but an agent may name its session files after the minute. */
async function resumedLater({ provider, spec }: ProbeContext, earlier: EarlierSession): Promise<string> {
  await delay(Math.max(earlier.atMs + MINUTE_MS - performance.now(), 0));
  try {
    await using handle = await provider.resume(
      earlier.sessionId,
      spec(order("recall"), { timeoutMs: PROBE_MS }),
    );
    const end = (await Array.fromAsync(handle.events)).at(-1);
    if (end?.kind !== "result" || !end.success) return `failed: ${failureOf(end)}`;
    return end.message.includes(WORD) ? "remembers its past" : "does not remember its past";
  } catch (error) {
    const { code, message } = error as ProviderError;
    return `\`${code}\`: ${message}`;
  }
}

function authMethods({ authMethods: methods }: AcpProvider): string {
  return methods.map(({ id, type }) => `\`${id}\` (${type})`).join(", ") || "none";
}

async function run(
  { provider, spec }: ProbeContext,
  prompt: string,
  more?: Partial<AgentSpec>,
): Promise<readonly AgentEvent[]> {
  await using handle = await provider.spawn(spec(prompt, { timeoutMs: PROBE_MS, ...more }));
  return await Array.fromAsync(handle.events);
}

async function usageOf(context: ProbeContext, prompt: string, calls: number): Promise<string> {
  const end = (await run(context, prompt)).at(-1);
  if (end?.kind !== "result" || !end.success) return `the session failed: ${failureOf(end)}`;
  const { inputTokens, cachedInputTokens, outputTokens, usd, turns } = end.cost;
  if (inputTokens === undefined) return "not reported";
  const money = usd === undefined ? "" : ", and US dollars";
  const counted = turns === undefined ? "" : `, and ${turns} model calls`;
  const isRight =
    inputTokens === calls * REPLY_USAGE.inputTokens &&
    outputTokens === calls * REPLY_USAGE.outputTokens &&
    (cachedInputTokens ?? calls * REPLY_USAGE.cachedInputTokens) === calls * REPLY_USAGE.cachedInputTokens;
  const numbers = `${inputTokens} in, ${cachedInputTokens ?? "?"} of them cached, ${outputTokens} out${counted}${money}`;
  return isRight ? `correct: ${numbers}` : `wrong: ${numbers}`;
}

async function toolOf(context: ProbeContext, prompt: string, category: string): Promise<string> {
  const servers = category === "mcp" ? { mcpStdioServers: context.servers } : {};
  const events = await run(context, prompt, servers);
  const use = events.find((event) => event.kind === "tool_use" && event.toolCategory === category);
  if (use?.kind !== "tool_use")
    return `no \`tool_use\` of the category ${category}: ${failureOf(events.at(-1))}`;
  const result = events.find((event) => event.kind === "tool_result" && event.toolUseId === use.toolUseId);
  const keys = Object.keys(use.input as object).join(", ");
  const content = result?.kind === "tool_result" ? JSON.stringify(result.content) : "nothing";
  return `\`${use.toolName}\` with ${keys}; result \`${content}\``;
}

async function asks(context: ProbeContext, prompt: string): Promise<string> {
  const events = await run(context, prompt);
  return events.some((event) => event.kind === "tool_use" && event.toolCategory === "approval")
    ? "yes"
    : "no";
}

async function denied(context: ProbeContext): Promise<string> {
  const file = join(context.workspace, PROBE_FILE);
  await rm(file, { force: true });
  const events = await run(context, order("tool"), {
    permissionConfig: { disallowPatterns: [PROBE_FILE.replaceAll(".", String.raw`\.`)] },
  });
  const init = events.find((event) => event.kind === "init");
  const isIgnored = init?.ignored.some(({ field }) => field === "permissionConfig") === true;
  const effect = existsSync(file) ? "was run" : "was not run";
  return `${effect}; ${isIgnored ? "`permissionConfig` is listed as ignored, because denials apply only when the agent asks" : "`permissionConfig` is honoured: the agent asks before everything"}`;
}

async function unknownSession({ provider, spec }: ProbeContext): Promise<string> {
  const sessionId = crypto.randomUUID();
  try {
    const handle = await provider.resume(sessionId, spec(order("say", "hello")));
    await handle.stop();
    return "was resumed";
  } catch (error) {
    const { code, message } = error as ProviderError;
    return `\`${code}\`: ${message.replace(/^.*It answered: /s, "")}`;
  }
}

function failureOf(end: AgentEvent | undefined): string {
  if (end?.kind === "result") return end.success ? "the session succeeded" : end.errors.join(" ");
  return end?.kind === "error" ? `${end.code}: ${end.message}` : "there is no end";
}
