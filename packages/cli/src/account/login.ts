import { isCancel, password } from "@clack/prompts";
import { launchCodex } from "codexkit/launch";
import { text } from "node:stream/consumers";
import { type CliContext, printJson } from "../context.ts";
import { EXIT, SilentExit, usageError } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";
import { formatAccount } from "./print-account.ts";

export interface LoginOptions {
  readonly apiKey?: boolean;
  readonly device?: boolean;
}

/** Implements `codexkit login`. */
export async function login(
  { apiKey = false, device = false }: LoginOptions,
  context: CliContext,
): Promise<void> {
  if (apiKey && device) throw usageError("--api-key and --device can't be used together.");
  const { signal, stderr, errorStyle } = context;
  const key = apiKey ? await readKey(context) : undefined;
  await using codex = await launchCodex({ signal });
  if (key !== undefined) await codex.account.loginWithApiKey(key, { signal });
  else if (device) {
    const { verificationUrl, userCode, completed } = await codex.account.loginWithDeviceCode({ signal });
    stderr.write(
      `Open ${errorStyle.bold(revealLine(verificationUrl))} in a browser, and enter ${errorStyle.bold(revealLine(userCode))}.\n`,
    );
    await completed;
  } else {
    const { authUrl, completed } = await codex.account.loginWithChatgpt({ signal });
    stderr.write(
      `Open this address in a browser on this machine:\n${revealLine(authUrl)}\n` +
        "To use a browser on another machine, run `codexkit login --device`.\n",
    );
    await completed;
  }
  const { account } = await codex.account.read({ signal });
  if (context.json) printJson(context, { account });
  else context.stdout.write(`Signed in: ${formatAccount(account)}.\n`);
}

/** Implements `codexkit logout`. */
export async function logout(context: CliContext): Promise<void> {
  const { signal } = context;
  await using codex = await launchCodex({ signal });
  const { account } = await codex.account.read({ signal });
  if (account !== null) await codex.account.logout({ signal });
  if (context.json) printJson(context, { account: null, wasSignedIn: account !== null });
  else context.stdout.write(account === null ? "You were not signed in.\n" : "Signed out.\n");
}

async function readKey({ stdin, stderr, isInteractive, signal }: CliContext): Promise<string> {
  if (!isInteractive) {
    const key = (await text(stdin)).trim();
    if (key === "" || /\s/.test(key))
      throw usageError("stdin has no API key.", "Pass it with `codexkit login --api-key < FILE`.");
    return key;
  }
  const key = await password({ message: "API key", input: stdin, output: stderr, signal });
  if (isCancel(key)) throw new SilentExit(EXIT.interrupted);
  if (key.trim() === "") throw usageError("The API key is empty.");
  return key.trim();
}
