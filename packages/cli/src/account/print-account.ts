import { CodexError, type v2 } from "codexkit";
import type { CodexCommandOptions } from "../codex/codex-options.ts";
import { openCodex } from "../codex/open-codex.ts";
import { type CliContext, printJson } from "../context.ts";
import { CliError, EXIT, SilentExit } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";

/** Implements `codexkit account`. */
export async function printAccount(options: CodexCommandOptions, context: CliContext): Promise<void> {
  const { signal, stdout } = context;
  await using opened = await openCodex(options, { signal });
  const { codex } = opened;
  const { account, requiresOpenaiAuth } = await codex.account.read({ signal });
  const limits = account?.type === "chatgpt" ? await readLimits(codex, signal) : null;
  if (context.json) {
    printJson(context, { account, requiresOpenaiAuth, rateLimits: limits });
    if (account === null && requiresOpenaiAuth) throw new SilentExit(EXIT.failed);
    return;
  }
  if (account === null && requiresOpenaiAuth) {
    throw new CliError(EXIT.failed, "You are not signed in.", {
      hint: "Run `codexkit login` or set OPENAI_API_KEY. To try codexkit without credentials, use --demo.",
    });
  }
  stdout.write(`${formatAccount(account)}\n`);
  for (const [name, window] of [
    ["short", limits?.primary],
    ["long", limits?.secondary],
  ] as const) {
    if (window) stdout.write(`  ${name} limit: ${window.usedPercent}% used${formatReset(window)}\n`);
  }
}

export function formatAccount(account: v2.Account | null): string {
  if (account === null) return "no account (the configured model provider does not need one)";
  if (account.type === "apiKey") return "API key";
  if (account.type === "chatgpt") {
    const { email, planType } = account;
    return revealLine(`ChatGPT account${email ? ` ${email}` : ""}${planType ? ` (${planType})` : ""}`);
  }
  return revealLine(account.type);
}

/** Codex can't report the limits before the first request to the model. */
async function readLimits(
  codex: {
    readonly account: {
      rateLimits(options: { signal: AbortSignal }): Promise<v2.GetAccountRateLimitsResponse>;
    };
  },
  signal: AbortSignal,
): Promise<v2.RateLimitSnapshot | null> {
  try {
    return (await codex.account.rateLimits({ signal })).rateLimits;
  } catch (error) {
    if (CodexError.is(error) && error.code === "request_failed") return null;
    throw error;
  }
}

function formatReset({ resetsAt }: v2.RateLimitWindow): string {
  return resetsAt
    ? `, until ${new Date(resetsAt * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`
    : "";
}
