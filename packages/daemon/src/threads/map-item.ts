import type { v2 } from "codexkit";
import { fileURLToPath } from "node:url";

type Fields = Readonly<Record<string, unknown>>;

/** Properties that the app-server always sends, but that a rollout omits if they have no value. */
const ABSENT: Readonly<Record<string, Fields>> = {
  userMessage: { clientId: null },
  agentMessage: { phase: null, memoryCitation: null, delivery: null, questions: null },
  commandExecution: {
    pluginId: null,
    scriptPath: null,
    processId: null,
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
  },
  mcpToolCall: {
    appContext: null,
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: null,
    result: null,
    error: null,
    durationMs: null,
  },
  dynamicToolCall: { namespace: null, contentItems: null, success: null, durationMs: null },
  webSearch: { action: null, results: null },
};

/**
 * Converts the item of a rollout line to the app-server's format. Rollouts have different names for types and
 * properties, and URLs instead of paths. Returns undefined if the value is not an item.
 */
export function mapItem(
  value: unknown,
  times: { readonly startedAtMs?: unknown; readonly completedAtMs?: unknown } = {},
): v2.ThreadItem | undefined {
  if (!isObject(value)) return undefined;
  const { type, id } = value;
  if (typeof type !== "string" || type === "" || typeof id !== "string") return undefined;
  const kind = type.charAt(0).toLowerCase() + type.slice(1);
  const item = { ...ABSENT[kind], ...mapMembers(kind, value), type: kind, id, ...withoutUndefined(times) };
  // Codex writes these lines. Properties that a newer version adds are kept unchanged.
  return item as unknown as v2.ThreadItem;
}

function mapMembers(kind: string, value: Fields): Fields {
  const { type: _type, content, changes, command, parsed_cmd: actions, duration, ...rest } = value;
  const members: Record<string, unknown> = camelCase(rest);
  if (duration !== undefined) members["durationMs"] = toMilliseconds(duration);
  for (const name of ["cwd", "path"]) if (name in members) members[name] = toPath(members[name]);
  switch (kind) {
    case "userMessage":
      members["content"] = asArray(content).filter(isObject);
      break;
    case "agentMessage":
      members["text"] = asArray(content)
        .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
        .join("");
      break;
    case "reasoning":
      members["summary"] = asArray(members["summaryText"]);
      members["content"] = asArray(members["rawContent"]);
      delete members["summaryText"];
      delete members["rawContent"];
      break;
    case "commandExecution":
      members["command"] = Array.isArray(command) ? joinCommand(command.map(asText)) : command;
      members["commandActions"] = asArray(actions).map((action) => toAction(action, members["cwd"]));
      members["source"] = typeof members["source"] === "string" ? toCamel(members["source"]) : "agent";
      members["status"] = typeof members["status"] === "string" ? toCamel(members["status"]) : "completed";
      if (members["aggregatedOutput"] === "") members["aggregatedOutput"] = null;
      for (const name of ["stdout", "stderr", "formattedOutput"]) delete members[name];
      break;
    case "fileChange":
      members["changes"] = isObject(changes)
        ? Object.entries(changes)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(toChange)
        : asArray(changes);
      for (const name of ["stdout", "stderr"]) delete members[name];
      break;
    case "webSearch":
      if (isObject(members["action"]) && members["action"]["type"] === "search")
        members["action"] = { query: null, queries: null, ...members["action"] };
      break;
    default:
      if (content !== undefined) members["content"] = content;
  }
  return members;
}

function toAction(action: unknown, cwd: unknown): unknown {
  if (!isObject(action)) return action;
  const { type, cmd, ...rest } = action;
  const kind = toCamel(asText(type));
  const path = rest["path"];
  // The app-server sends the absolute path of a file that is read.
  const isRelative = kind === "read" && typeof path === "string" && !path.startsWith("/");
  return {
    type: kind,
    command: cmd,
    ...rest,
    ...(isRelative && typeof cwd === "string" && { path: `${cwd}/${path}` }),
  };
}

function toChange([path, change]: [string, unknown]): unknown {
  if (!isObject(change)) return { path, kind: { type: "update", move_path: null }, diff: "" };
  const { type, content, unified_diff: diff, move_path: movePath } = change;
  if (type !== "update") return { path, kind: { type }, diff: content ?? "" };
  const moved = typeof movePath === "string" ? `\n\nMoved to: ${movePath}` : "";
  return {
    path,
    kind: { type, move_path: movePath ?? null },
    diff: `${typeof diff === "string" ? diff : ""}${moved}`,
  };
}

/** Converts `{ secs, nanos }` or milliseconds. */
function toMilliseconds(duration: unknown): number | null {
  if (typeof duration === "number") return duration;
  if (!isObject(duration)) return null;
  const { secs = 0, nanos = 0 } = duration;
  return typeof secs === "number" && typeof nanos === "number"
    ? secs * 1000 + Math.floor(nanos / 1_000_000)
    : null;
}

function toPath(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith("file://")) return value;
  try {
    return fileURLToPath(value);
  } catch {
    return value;
  }
}

/** Joins words to a command line that a shell can parse. */
function joinCommand(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  if (/^[\w+\-./:@=,%]+$/.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  return `"${word.replaceAll(/["$`\\]/g, String.raw`\$&`)}"`;
}

function camelCase(value: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [toCamel(name), member]));
}

function toCamel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function withoutUndefined(value: Fields): Fields {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === "number"));
}

/** `String` would throw for an object with a property `toString`. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
