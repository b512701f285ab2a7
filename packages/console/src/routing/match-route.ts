/** Patterns of the console's pages below `/console`. `:name` is a parameter. */
export const ROUTES = {
  home: "/",
  inbox: "/inbox",
  sessions: "/sessions",
  session: "/s/:id",
  newSession: "/new",
  usage: "/usage",
  settings: "/settings",
  login: "/login",
  nodes: "/nodes",
  pair: "/pair",
  replay: "/replay",
} as const;

export type RouteName = keyof typeof ROUTES;

export interface MatchedRoute {
  readonly name: RouteName;
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a path below `/console`, or undefined if there is none. */
export function matchRoute(path: string): MatchedRoute | undefined {
  const parts = split(path);
  for (const [name, pattern] of Object.entries(ROUTES) as [RouteName, string][]) {
    const params = matchParts(split(pattern), parts);
    if (params) return { name, params };
  }
  return undefined;
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function matchParts(
  pattern: readonly string[],
  parts: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const part = parts[index] ?? "";
    if (expected.startsWith(":")) {
      const value = decode(part);
      if (value === undefined) return undefined;
      params[expected.slice(1)] = value;
    } else if (expected !== part) return undefined;
  }
  return params;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
