import { stripVTControlCharacters } from "node:util";
import { CodexError } from "../errors.ts";
import type { FoundCodex } from "./find-codex.ts";

/**
 * Codex died because another one was making the databases of the same new `CODEX_HOME` at the same moment. The next try
 * finds them made.
 */
export class StateRaceError extends CodexError {
  constructor(message: string, options?: ErrorOptions) {
    super("codex_start_failed", message, options);
  }
}

/** What a codex that could not make its databases prints. */
const STATE_RACE = /failed to initialize sqlite state runtime/;

/** How Codex names a place in a configuration file that it can't read. */
const CONFIG_FILE = /(?<place>\S*config\.toml:\d+:\d+): (?<problem>.+)/;

/** A codex that was started but did not come to the handshake: the path, what it printed, and what to do. */
export function explainStartFailure(codex: FoundCodex, stderr: string, why: CodexError): CodexError {
  const printed = stripVTControlCharacters(stderr).trim();
  if (STATE_RACE.test(printed)) return new StateRaceError(why.message, { cause: why });
  const config = CONFIG_FILE.exec(printed)?.groups;
  if (config) {
    return new CodexError(
      "invalid_config",
      `Codex can't read its configuration: ${config["place"]}: ${config["problem"]}. Correct the file, or set another codexHome.`,
      { cause: why },
    );
  }
  if (why.code !== "timeout") {
    return new CodexError("codex_start_failed", why.message, { cause: why });
  }
  const tail = printed === "" ? "It printed nothing." : `Its last words:\n${printed}`;
  return new CodexError(
    "codex_start_failed",
    `${codexName(codex)} runs but does not answer: ${why.message} Check that it is a codex binary, or set the codexPath option. ${tail}`,
    { cause: why },
  );
}

/** A codex by its path, and where that came from. */
export function codexName({ path, source }: FoundCodex): string {
  const from = { option: "codexPath", env: "$CODEX_BIN", package: "@openai/codex", path: "PATH" }[source];
  return `${path} (from ${from})`;
}
