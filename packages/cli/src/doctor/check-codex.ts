import { CODEX_VERSION, type CodexError, type CodexErrorCode, discoverCredentials } from "codexkit";
import { launchCodex } from "codexkit/launch";
import { findCodex } from "codexkit/process";
import { withTimeout } from "@codexkit/rpc/async";
import type { CliContext } from "../context.ts";
import { type Finding, PROGRAM_MS } from "./finding.ts";

/** Checks whether codex is found, starts and has a supported version, and whether credentials exist. */
export async function checkCodex({ env, signal }: Pick<CliContext, "env" | "signal">): Promise<Finding[]> {
  const check = "codex";
  let found: ReturnType<typeof findCodex>;
  try {
    found = findCodex({ env });
  } catch (error) {
    const [message = ""] = (error as Error).message.split("\n");
    const fix = "Run `npm install @openai/codex`, or set CODEX_BIN to the path of codex.";
    return [{ check, status: "failed", message, fix }, await checkCredentials(env)];
  }
  try {
    await using codex = await launchCodex({ codexPath: found.path, signal });
    const { userAgent } = await withTimeout(
      codex.server(),
      PROGRAM_MS,
      () => new Error("codex does not respond."),
    );
    const { account, requiresOpenaiAuth } = await codex.account.read({ signal });
    const version = /\/(\d+\.\d+\.\d+\S*)/.exec(userAgent)?.[1] ?? "of an unknown version";
    const message = `${version}, ${SOURCES[found.source]}: ${found.path}`;
    return [
      { check, status: "ok", message },
      account === null && requiresOpenaiAuth
        ? await checkCredentials(env)
        : { check: "credentials", status: "ok", message: describeAccount(account, requiresOpenaiAuth) },
    ];
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as CodexError;
    const fix =
      FIXES[code] ??
      `Run \`${found.path} app-server\` to see what it prints, or set CODEX_BIN to another codex.`;
    return [{ check, status: "failed", message, fix }, await checkCredentials(env)];
  }
}

const SOURCES = {
  option: "given",
  env: "from CODEX_BIN",
  package: "from the npm package",
  path: "from PATH",
} as const;

const FIXES: Partial<Record<CodexErrorCode, string>> = {
  codex_too_old: `codexkit needs ${CODEX_VERSION} or newer. Run \`npm install @openai/codex@latest\`.`,
  invalid_config: "Correct config.toml in CODEX_HOME (by default ~/.codex).",
};

function describeAccount(account: { readonly type: string } | null, requiresOpenaiAuth: boolean): string {
  if (account === null) return requiresOpenaiAuth ? "none" : "the configured model provider needs none";
  return account.type === "apiKey" ? "API key" : `login (${account.type})`;
}

/** A key in the environment is not a login, but every codexkit command uses it. */
async function checkCredentials(env: NodeJS.ProcessEnv): Promise<Finding> {
  const check = "credentials";
  const found = await discoverCredentials({ env });
  switch (found.kind) {
    case "apiKey":
      return { check, status: "ok", message: `API key of ${found.source}` };
    case "chatgpt":
      return { check, status: "ok", message: `login of ${found.email ?? found.path}` };
    case "unusable":
      return {
        check,
        status: "failed",
        message: `${found.path} can't be used: ${found.reason}.`,
        fix: "Run `codexkit login`, or delete the file.",
      };
    case "none":
      return {
        check,
        status: "warning",
        message: "No credentials for a model were found.",
        fix: "Run `codexkit login` or set OPENAI_API_KEY. To try codexkit without credentials, use --demo.",
      };
  }
}
