import { RelayError } from "../../errors.ts";
import type { NewRegistryToken, RegistryScope, RegistryTokenInfo } from "../store/token-store.ts";
import { AdminClient, type AdminOptions } from "./admin-client.ts";

export interface PrintOptions extends AdminOptions {
  readonly json?: boolean;
}

export interface CreateTokenOptions extends PrintOptions {
  readonly scope: readonly RegistryScope[];
  readonly environment?: string;
  readonly allEnvironments?: boolean;
  readonly expires?: number;
  readonly subject?: string;
  readonly epoch?: number;
}

export async function createToken(name: string, options: CreateTokenOptions): Promise<void> {
  const { scope, environment, allEnvironments = false, expires, subject, epoch, json = false } = options;
  if ((environment === undefined) === !allEnvironments) {
    throw new RelayError("bad_option", "Pass either --environment <id> or --all-environments.");
  }
  if ((subject === undefined) !== (epoch === undefined)) {
    throw new RelayError("bad_option", "Pass both --subject <text> and --epoch <number>, or neither.");
  }
  const client = await AdminClient.open(options);
  const token: NewRegistryToken = {
    name,
    scopes: scope,
    ...(environment !== undefined && { environmentId: environment }),
    ...(expires !== undefined && { validForMs: expires }),
    ...(subject !== undefined && epoch !== undefined && { claim: { subject, epoch } }),
  };
  const created = await client.createToken(token);
  if (json) return printJson(created);
  const { id, scopes, environmentId, expiresAt } = created.info;
  // Only the token is printed to stdout, so that it can be redirected to a file.
  process.stdout.write(`${created.token}\n`);
  const until = expiresAt === null ? "" : `, until ${new Date(expiresAt).toISOString()}`;
  process.stderr.write(
    `Token ${id} with ${scopes.join(", ")} for ${environmentId ?? "all environments"}${until}. It is not stored: copy it now.\n`,
  );
}

export async function listTokens({ json = false, ...options }: PrintOptions): Promise<void> {
  const tokens = await (await AdminClient.open(options)).listTokens();
  if (json) return printJson(tokens);
  printTable(
    ["ID", "NAME", "SCOPES", "ENVIRONMENT", "STATE"],
    tokens.map((token) => [
      token.id,
      token.name,
      token.scopes.join(","),
      token.environmentId ?? "all",
      stateOf(token),
    ]),
  );
}

export async function revokeToken(id: string, options: AdminOptions): Promise<void> {
  await (await AdminClient.open(options)).revokeToken(id);
  process.stdout.write(`Revoked ${id}.\n`);
}

export async function listEnvironments({ json = false, ...options }: PrintOptions): Promise<void> {
  const environments = await (await AdminClient.open(options)).listEnvironments();
  if (json) return printJson(environments);
  printTable(
    ["ENVIRONMENT", "EXECUTORS", "REGISTERED"],
    environments.map(({ environmentId, online, registeredAt }) => [
      environmentId,
      String(online),
      new Date(registeredAt).toISOString(),
    ]),
  );
}

function stateOf({ revokedAt, expiresAt, replacedBy }: RegistryTokenInfo): string {
  if (revokedAt !== null) return "revoked";
  if (replacedBy !== null) return `replaced by epoch ${replacedBy}`;
  if (expiresAt === null) return "valid";
  return expiresAt <= Date.now() ? "expired" : `until ${new Date(expiresAt).toISOString()}`;
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  // Names are untrusted. Control characters could hide or change lines of a terminal.
  const lines = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\p{C}/gu, "\uFFFD")));
  const widths = header.map((_, column) => Math.max(...lines.map((row) => (row[column] ?? "").length)));
  for (const row of lines) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    process.stdout.write(`${cells.join("  ").trimEnd()}\n`);
  }
}
