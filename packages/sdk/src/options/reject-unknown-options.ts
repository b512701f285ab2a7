import { CodexError } from "../errors.ts";

/** Every key of an options type. The compiler complains about a key that is missing here, or too many. */
export type OptionKeys<Options> = Readonly<Record<keyof Options, true>>;

/** Names that people try, from `@openai/codex-sdk`, the command line and `config.toml`, with ours. */
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
 * Throws `invalid_argument` for the first option that is not known, with the nearest valid name. A misspelt option would
 * otherwise be ignored without notice: `sandboxMode: "read-only"` would run with the user's default sandbox.
 *
 * @param what Whose options these are, as the caller wrote it: `startThread`.
 */
export function rejectUnknownOptions<Options extends object>(
  what: string,
  options: Options,
  known: OptionKeys<Options>,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const received = options === null ? "null" : Array.isArray(options) ? "a list" : `a ${typeof options}`;
    throw new CodexError("invalid_argument", `${what} takes an object of options, not ${received}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const nearest = nearestName(name, Object.keys(known));
    const hint =
      nearest === undefined
        ? `Valid options: ${Object.keys(known).join(", ")}.`
        : `Did you mean "${nearest}"?`;
    throw new CodexError("invalid_argument", `${what} has no option "${name}". ${hint}`);
  }
}

/** Throws `invalid_argument` unless a given signal is an `AbortSignal`. */
export function checkSignal(what: string, signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new CodexError("invalid_argument", `${what}: signal is not an AbortSignal.`);
}

/** Throws `invalid_argument` for the first limit that is not a number of at least zero. */
export function checkLimits(what: string, limits: object): void {
  for (const [name, value] of Object.entries(limits) as [string, unknown][]) {
    if (value === undefined || (typeof value === "number" && value >= 0)) continue;
    const message = `${what}.${name} is ${JSON.stringify(value)}, not a number of at least 0.`;
    throw new CodexError("invalid_argument", message);
  }
}

/** The valid name that the given one was probably meant to be. */
export function nearestName(name: string, valid: readonly string[]): string | undefined {
  const alias = ALIASES[name]?.find((candidate) => valid.includes(candidate));
  if (alias !== undefined) return alias;
  const given = normalize(name);
  const ranked = valid
    .map((candidate) => ({ candidate, distance: editDistance(given, normalize(candidate)) }))
    .toSorted((left, right) => left.distance - right.distance);
  const [best] = ranked;
  // A third of the letters may be wrong: more makes a suggestion that nobody meant.
  if (best && best.distance <= Math.max(1, Math.floor(given.length / 3))) return best.candidate;
  return valid.find((candidate) => candidate.length > 3 && given.startsWith(normalize(candidate)));
}

function normalize(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

/** Levenshtein distance: the least number of letters to insert, delete or replace. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [row, letter] of left.split("").entries()) {
    const current = [row + 1];
    for (const [column, other] of right.split("").entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      const inserted = (current[column] ?? 0) + 1;
      const deleted = (previous[column + 1] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, deleted));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
