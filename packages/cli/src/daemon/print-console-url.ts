import type { Scope } from "@codexkit/daemon/client";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "./connect-daemon.ts";
import type { DaemonCommandOptions } from "./daemon-options.ts";
import { createConsoleUrl, requireConsole } from "./console-url.ts";

export interface ConsoleOptions extends DaemonCommandOptions {
  readonly scope?: readonly Scope[];
  readonly expires?: number;
}

/** Implements `codexkit console`: prints a link that logs in one browser. */
export async function printConsoleUrl(
  { scope, expires, ...options }: ConsoleOptions,
  context: CliContext,
): Promise<void> {
  const { client, url } = await connectDaemon(options, context);
  await requireConsole(url, context.signal);
  const link = await createConsoleUrl(url, client, {
    ...(scope && { scopes: scope }),
    ...(expires !== undefined && { expiresInMs: expires }),
    signal: context.signal,
  });
  if (context.json) printJson(context, { url: link });
  else context.stdout.write(`${link}\n`);
}
