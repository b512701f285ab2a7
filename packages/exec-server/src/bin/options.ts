import { parseArgs } from "node:util";
import { ExecError } from "../errors.ts";
import type { ExecServerOptions } from "../server/exec-server.ts";
import { readSecretFile, sha256Hex, type WebSocketAuth } from "../server/ws-auth.ts";

export const USAGE = `Usage: codexkit-exec-server [options]

Runs processes, PTYs and files of this machine for a Codex that connects. Prints the address it listens on.

  --listen URL                     ws://IP:PORT (default ws://127.0.0.1:0), stdio or stdio://
  --concurrent-requests N          requests that run at once on one connection (default 64; 1: one after the other)
  --ws-auth MODE                   capability-token or signed-bearer-token
  --ws-token-file PATH             absolute path of the file with the capability token
  --ws-token-sha256 HEX            SHA-256 of the capability token
  --ws-shared-secret-file PATH     absolute path of the file with the secret of signed tokens
  --ws-issuer ISSUER               the issuer that signed tokens must name
  --ws-audience AUDIENCE           the audience that signed tokens must name
  --ws-max-clock-skew-seconds N    how far apart clocks may be (default 30)
  --allow-unauthenticated-remote   listen beyond this machine without --ws-auth
  --bwrap PATH                     the bubblewrap to sandbox with
  --help                           print this

Codex is pointed at it with CODEX_EXEC_SERVER_URL=ws://…, or in environments.toml.
`;

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** Reads the command line; undefined when help was asked for. */
export function parseOptions(args: readonly string[]): ExecServerOptions | undefined {
  const values = parse(args);
  if (values["help"] === true) return undefined;
  const auth = authOf(values);
  const concurrent = text(values, "concurrent-requests");
  const listen = text(values, "listen");
  const bwrap = text(values, "bwrap");
  return {
    ...(listen === undefined ? {} : { listen }),
    ...(auth ? { auth } : {}),
    ...(concurrent === undefined
      ? {}
      : { concurrentRequests: wholeNumber("concurrent-requests", concurrent, 1) }),
    ...(bwrap === undefined ? {} : { bwrap }),
    allowUnauthenticatedRemote: values["allow-unauthenticated-remote"] === true,
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
        bwrap: string,
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new ExecError("bad_option", cause instanceof Error ? cause.message : "bad options", { cause });
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
      throw new ExecError("bad_option", `--ws-auth is capability-token or signed-bearer-token, not ${mode}`);
  }
}

function tokenDigest(values: Values): string {
  const file = text(values, "ws-token-file");
  const digest = text(values, "ws-token-sha256");
  if ((file === undefined) === (digest === undefined)) {
    throw new ExecError("bad_option", "capability-token needs one of --ws-token-file and --ws-token-sha256");
  }
  return digest ?? sha256Hex(readSecretFile(file ?? "", "--ws-token-file"));
}

function signedAuth(values: Values): WebSocketAuth {
  const file = text(values, "ws-shared-secret-file");
  if (file === undefined)
    throw new ExecError("bad_option", "signed-bearer-token needs --ws-shared-secret-file");
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
  if (given !== undefined) throw new ExecError("bad_option", `--${given} needs ${needed}`);
}

function text(values: Values, flag: string): string | undefined {
  const value = values[flag];
  return typeof value === "string" ? value : undefined;
}

function wholeNumber(flag: string, value: string, least: number): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new ExecError("bad_option", `--${flag} takes a whole number from ${least} on, not "${value}"`);
}
