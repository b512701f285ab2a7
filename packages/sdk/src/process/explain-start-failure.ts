import { stripVTControlCharacters } from "node:util";
import { CodexError } from "../errors.ts";
import type { FoundCodex } from "./find-codex.ts";

/**
 * Codex exited because another process was creating the databases of the same new `CODEX_HOME` at the same time. A retry
 * finds them created.
 */
export class StateRaceError extends CodexError {
  constructor(message: string, options?: ErrorOptions) {
    super("codex_start_failed", message, options);
  }
}

/** Printed by a codex that could not create its databases. */
const STATE_RACE = /failed to initialize sqlite state runtime/;

/** Codex's error for an invalid configuration file. */
const CONFIG_FILE = /(?<place>\S*config\.toml:\d+:\d+): (?<problem>.+)/;

/** Explains why a started codex did not complete the handshake: its path, its output, and how to fix it. */
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
  const tail = printed === "" ? "It printed nothing." : `Its stderr:\n${printed}`;
  return new CodexError(
    "codex_start_failed",
    `${describeCodex(codex)} is running but does not respond: ${why.message} Check that it is a codex binary, or set the codexPath option. ${tail}`,
    { cause: why },
  );
}

/** Describes a codex by its path and where it was found. */
export function describeCodex({ path, source }: FoundCodex): string {
  const from = { option: "codexPath", env: "$CODEX_BIN", package: "@openai/codex", path: "PATH" }[source];
  return `${path} (from ${from})`;
}
