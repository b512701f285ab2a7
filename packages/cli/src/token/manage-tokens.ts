import type { OperationResponse, Scope } from "@codexkit/daemon/client";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { CliError, EXIT, usageError } from "../errors/cli-error.ts";
import { checkId } from "../options/check-id.ts";
import { formatAge } from "../render/format-values.ts";
import { formatTable } from "../terminal/format-table.ts";
import { revealLine } from "../terminal/sanitize.ts";

export interface CreateTokenOptions extends DaemonCommandOptions {
  readonly scope?: readonly Scope[];
  readonly expires?: number;
  readonly tenant?: string;
}

export interface RevokeTokenOptions extends DaemonCommandOptions {
  readonly yes?: boolean;
}

type TokenInfo = OperationResponse<"GET /tokens">["data"][number];

export async function createToken(
  name: string,
  { scope, expires, tenant, ...options }: CreateTokenOptions,
  context: CliContext,
): Promise<void> {
  if (name.trim() === "") throw usageError("The name of the token is empty.");
  const { client } = await connectDaemon(options, context);
  const created = await client.request("POST /tokens", {
    body: {
      name,
      scopes: [...(scope ?? ["read", "write", "approve"])] as Scope[],
      ...(expires !== undefined && { expiresAt: Date.now() + expires }),
      ...(tenant !== undefined && { tenant }),
    },
    signal: context.signal,
  });
  if (context.json) printJson(context, created);
  else {
    const { info } = created;
    // Only the token goes to stdout, so that it can be written to a file.
    context.stdout.write(`${created.token}\n`);
    const until = info.expiresAt === null ? "" : `, until ${new Date(info.expiresAt).toISOString()}`;
    context.stderr.write(
      `Token ${info.id} with ${info.scopes.join(", ")}${until}. Copy it now, because it can't be shown again.\n`,
    );
  }
}

export async function listTokens(options: DaemonCommandOptions, context: CliContext): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const { data } = await client.request("GET /tokens", { signal: context.signal });
  if (context.json) for (const token of data) printJson(context, token);
  else {
    const rows = data.map((token) => [
      token.id,
      token.name,
      token.scopes.join(","),
      stateOf(token),
      token.lastUsedAt === null ? "never used" : `used ${formatAge(Date.now() - token.lastUsedAt)}`,
    ]);
    context.stdout.write(formatTable(["ID", "NAME", "SCOPES", "STATE", "USE"], rows, context));
  }
}

export async function revokeTokens(
  given: readonly string[],
  { yes = false, ...options }: RevokeTokenOptions,
  context: CliContext,
): Promise<void> {
  for (const text of given) checkId(text, "token");
  const { client } = await connectDaemon(options, context);
  const { signal } = context;
  const { data } = await client.request("GET /tokens", { signal });
  // Look up all tokens before revoking the first, so that nothing is revoked if one name is misspelt.
  const tokens = given.map((text) => findToken(data, text));
  const { id: ownId } = await client.request("GET /whoami", { signal });
  const own = tokens.find(({ id }) => id === ownId);
  if (own && !yes) {
    throw usageError(
      `${own.id} (${own.name}) is the token that this command uses. Commands on this machine would lose access.`,
      "Pass --yes to revoke it. `codexkit serve --token-file NEW` creates a new one.",
    );
  }
  // The command's own token comes last, because it is needed for the others.
  for (const { id, name } of tokens.toSorted((a, b) => Number(a === own) - Number(b === own))) {
    await client.request("DELETE /tokens/{tokenId}", { params: { tokenId: id }, signal: context.signal });
    if (context.json) printJson(context, { revoked: id, name });
    else context.stdout.write(`Revoked ${id} (${revealLine(name)}).\n`);
  }
}

function findToken(tokens: readonly TokenInfo[], text: string): TokenInfo {
  const valid = tokens.filter(({ revokedAt }) => revokedAt === null);
  const found = valid.filter(({ id, name }) => id === text || name === text);
  const [token, ...others] = found;
  if (!token) {
    throw new CliError(EXIT.failed, `There is no valid token with the ID or name "${revealLine(text)}".`, {
      hint: "Run `codexkit token list` to see the tokens.",
    });
  }
  if (others.length > 0) {
    throw new CliError(EXIT.failed, `${found.length} tokens have the name "${revealLine(text)}".`, {
      hint: `Choose one by its ID: ${found.map(({ id }) => id).join(", ")}.`,
    });
  }
  return token;
}

function stateOf({ revokedAt, expiresAt }: TokenInfo): string {
  if (revokedAt !== null) return "revoked";
  if (expiresAt === null) return "valid";
  return expiresAt <= Date.now() ? "expired" : `until ${new Date(expiresAt).toISOString().slice(0, 16)}`;
}
