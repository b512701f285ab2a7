import { CodexError } from "../errors.ts";

/** All keys of an options type. The compiler reports missing and excess keys. */
export type OptionKeys<Options> = Readonly<Record<keyof Options, true>>;

/** Names used by `@openai/codex-sdk`, the command line and `config.toml`, with the names used here. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  sandboxMode: ["sandbox", "sandboxPolicy"],
  sandbox_mode: ["sandbox", "sandboxPolicy"],
  sandbox: ["sandboxPolicy"],
  workingDirectory: ["cwd"],
  workdir: ["cwd"],
  directory: ["cwd"],
  codexPathOverride: ["codexPath"],
  path: ["codexPath"],
  binary: ["codexPath"],
  home: ["codexHome"],
  modelReasoningEffort: ["effort", "config"],
  reasoningEffort: ["effort", "config"],
  approvalMode: ["approvalPolicy"],
  approval_policy: ["approvalPolicy"],
  askForApproval: ["approvalPolicy"],
  additionalDirectories: ["runtimeWorkspaceRoots"],
  instructions: ["developerInstructions"],
  systemPrompt: ["baseInstructions"],
  schema: ["outputSchema"],
  abortSignal: ["signal"],
  timeout: ["timeoutMs", "handshakeTimeoutMs"],
  onBusy: ["whenBusy"],
  mcp_servers: ["mcpServers"],
  apiKey: ["env"],
  baseUrl: ["config"],
};

/**
 * Throws `invalid_argument` for the first unknown option and suggests the nearest valid name. A misspelt option would
 * otherwise be silently ignored: `sandboxMode: "read-only"` would run with the user's default sandbox.
 *
 * @param what The function that takes the options, such as `startThread`.
 */
export function rejectUnknownOptions<Options extends object>(
  what: string,
  options: Options,
  known: OptionKeys<Options>,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const received = options === null ? "null" : Array.isArray(options) ? "an array" : `a ${typeof options}`;
    throw new CodexError("invalid_argument", `${what} expects an options object, got ${received}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const nearest = findNearestName(name, Object.keys(known));
    const hint =
      nearest === undefined
        ? `Valid options: ${Object.keys(known).join(", ")}.`
        : `Did you mean "${nearest}"?`;
    throw new CodexError("invalid_argument", `${what} has no option "${name}". ${hint}`);
  }
}

/** Throws `invalid_argument` if the signal is set and is not an `AbortSignal`. */
export function checkSignal(what: string, signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new CodexError("invalid_argument", `${what}: signal must be an AbortSignal.`);
}

/** Throws `invalid_argument` for the first limit that is not a non-negative number. */
export function checkLimits(what: string, limits: object): void {
  for (const [name, value] of Object.entries(limits) as [string, unknown][]) {
    if (value === undefined || (typeof value === "number" && value >= 0)) continue;
    const message = `${what}.${name} must be a number of at least 0, got ${JSON.stringify(value)}.`;
    throw new CodexError("invalid_argument", message);
  }
}

/** Finds the valid name that the caller probably meant. */
export function findNearestName(name: string, valid: readonly string[]): string | undefined {
  const alias = ALIASES[name]?.find((candidate) => valid.includes(candidate));
  if (alias !== undefined) return alias;
  const given = normalize(name);
  const ranked = valid
    .map((candidate) => ({ candidate, distance: editDistance(given, normalize(candidate)) }))
    .toSorted((left, right) => left.distance - right.distance);
  const [best] = ranked;
  // A third of the letters may differ. With more, the suggestion is usually wrong.
  if (best && best.distance <= Math.max(1, Math.floor(given.length / 3))) return best.candidate;
  return valid.find((candidate) => candidate.length > 3 && given.startsWith(normalize(candidate)));
}

function normalize(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

/** Levenshtein distance in which swapping two adjacent letters, a common typing mistake, counts as one edit. */
function editDistance(left: string, right: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [row, letter] of left.split("").entries()) {
    const current = [row + 1];
    for (const [column, other] of right.split("").entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      const inserted = (current[column] ?? 0) + 1;
      const deleted = (previous[column + 1] ?? 0) + 1;
      const isSwapped = row > 0 && column > 0 && letter === right[column - 1] && left[row - 1] === other;
      const swapped = isSwapped ? (beforePrevious[column - 1] ?? 0) + 1 : Infinity;
      current.push(Math.min(replaced, inserted, deleted, swapped));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
