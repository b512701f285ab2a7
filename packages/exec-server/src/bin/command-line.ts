import { messageOf } from "@codexkit/rpc/async";
import { parseArgs } from "node:util";
import { ExecError } from "../errors.ts";
import { LOG_LEVELS, type LogLevel } from "../logger.ts";
import type { ExecServerOptions } from "../server/exec-server.ts";
import { readSecretFile, sha256Hex, type WebSocketAuth } from "../server/ws-auth.ts";

export const USAGE = `Usage: codexkit-exec-server [options]

Gives Codex access to this machine's processes, PTYs and files. Prints the URL that it listens on.

  --listen URL                     ws://IP:PORT (default ws://127.0.0.1:0), stdio or stdio://
  --concurrent-requests N          concurrent requests per connection (default 64; 1: strictly in order)
  --ws-auth MODE                   capability-token or signed-bearer-token
  --ws-token-file PATH             absolute path of the file with the capability token
  --ws-token-sha256 HEX            SHA-256 of the capability token
  --ws-shared-secret-file PATH     absolute path of the file with the secret of signed tokens
  --ws-issuer ISSUER               required issuer of signed tokens
  --ws-audience AUDIENCE           required audience of signed tokens
  --ws-max-clock-skew-seconds N    tolerated clock difference (default 30)
  --allow-unauthenticated-remote   accept clients from other machines without --ws-auth
  --allow-network-without-auth     let sandboxed commands use the network without --ws-auth; they can reach this server
  --allowed-host NAME              host name under which clients without --ws-auth reach this server (repeatable)
  --bwrap PATH                     bubblewrap binary for sandboxes (default: the system's, or the one in @openai/codex)
  --log-level LEVEL                debug, info, warn (default), error or silent; JSON lines on stderr
  --version                        print the version
  --help                           print this text

Point Codex at it with CODEX_EXEC_SERVER_URL=ws://…, in environments.toml, or with environment/add.
`;

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export type CommandLine =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "serve"; readonly logLevel: LogLevel; readonly options: ExecServerOptions };

export function parseCommandLine(args: readonly string[]): CommandLine {
  const values = parse(args);
  if (values["help"] === true) return { kind: "help" };
  if (values["version"] === true) return { kind: "version" };
  return { kind: "serve", logLevel: logLevelOf(values), options: serverOptions(values) };
}

function serverOptions(values: Values): ExecServerOptions {
  const auth = authOf(values);
  const concurrent = text(values, "concurrent-requests");
  const listen = text(values, "listen");
  if (listen === "none")
    throw new ExecError(
      "bad_option",
      "--listen none works only for programs that embed the server, because no client can connect.",
    );
  const bwrap = text(values, "bwrap");
  return {
    ...(listen === undefined ? {} : { listen }),
    ...(auth ? { auth } : {}),
    ...(concurrent === undefined
      ? {}
      : { concurrentRequests: wholeNumber("concurrent-requests", concurrent, 1) }),
    ...(bwrap === undefined ? {} : { bwrap }),
    allowedHosts: listOf(values["allowed-host"]),
    allowUnauthenticatedRemote: values["allow-unauthenticated-remote"] === true,
    allowNetworkWithoutAuth: values["allow-network-without-auth"] === true,
  };
}

function parse(args: readonly string[]): Values {
  const string = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        listen: string,
        "concurrent-requests": string,
        "ws-auth": string,
        "ws-token-file": string,
        "ws-token-sha256": string,
        "ws-shared-secret-file": string,
        "ws-issuer": string,
        "ws-audience": string,
        "ws-max-clock-skew-seconds": string,
        "allow-unauthenticated-remote": { type: "boolean" },
        "allowed-host": { type: "string", multiple: true },
        "allow-network-without-auth": { type: "boolean" },
        bwrap: string,
        "log-level": string,
        version: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    const problem = messageOf(cause);
    throw new ExecError(
      "bad_option",
      `${problem.replace(/\.?$/, ".")} Run codexkit-exec-server --help to see the options.`,
      {
        cause,
      },
    );
  }
}

const TOKEN_FLAGS = ["ws-token-file", "ws-token-sha256"];
const SIGNED_FLAGS = ["ws-shared-secret-file", "ws-issuer", "ws-audience", "ws-max-clock-skew-seconds"];

function authOf(values: Values): WebSocketAuth | undefined {
  const mode = text(values, "ws-auth");
  switch (mode) {
    case undefined:
      refuseFlags(values, [...TOKEN_FLAGS, ...SIGNED_FLAGS], "--ws-auth");
      return undefined;
    case "capability-token":
      refuseFlags(values, SIGNED_FLAGS, "--ws-auth signed-bearer-token");
      return { mode, tokenSha256: tokenDigest(values) };
    case "signed-bearer-token":
      refuseFlags(values, TOKEN_FLAGS, "--ws-auth capability-token");
      return signedAuth(values);
    default:
      throw new ExecError(
        "bad_option",
        `--ws-auth expects capability-token or signed-bearer-token, but received "${mode}".`,
      );
  }
}

function tokenDigest(values: Values): string {
  const file = text(values, "ws-token-file");
  const digest = text(values, "ws-token-sha256");
  if ((file === undefined) === (digest === undefined)) {
    throw new ExecError(
      "bad_option",
      "--ws-auth capability-token needs either --ws-token-file or --ws-token-sha256.",
    );
  }
  return digest ?? sha256Hex(readSecretFile(file ?? "", "--ws-token-file"));
}

function signedAuth(values: Values): WebSocketAuth {
  const file = text(values, "ws-shared-secret-file");
  if (file === undefined)
    throw new ExecError("bad_option", "--ws-auth signed-bearer-token needs --ws-shared-secret-file.");
  const issuer = text(values, "ws-issuer");
  const audience = text(values, "ws-audience");
  const skew = text(values, "ws-max-clock-skew-seconds");
  return {
    mode: "signed-bearer-token",
    secret: readSecretFile(file, "--ws-shared-secret-file"),
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
    ...(skew === undefined ? {} : { maxClockSkewSeconds: wholeNumber("ws-max-clock-skew-seconds", skew, 0) }),
  };
}

function refuseFlags(values: Values, flags: readonly string[], needed: string): void {
  const given = flags.find((flag) => values[flag] !== undefined);
  if (given !== undefined) throw new ExecError("bad_option", `--${given} needs ${needed}.`);
}

function text(values: Values, flag: string): string | undefined {
  const value = values[flag];
  return typeof value === "string" ? value : undefined;
}

function logLevelOf(values: Values): LogLevel {
  const level = text(values, "log-level") ?? "warn";
  const known = LOG_LEVELS.find((name) => name === level);
  if (known !== undefined) return known;
  throw new ExecError(
    "bad_option",
    `--log-level expects one of ${LOG_LEVELS.join(", ")}, but received "${level}".`,
  );
}

function listOf(value: Values[string]): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function wholeNumber(flag: string, value: string, least: number): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new ExecError(
    "bad_option",
    `--${flag} expects a whole number of at least ${least}, but received "${value}".`,
  );
}
