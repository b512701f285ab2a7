import type { PairedMethod } from "./pair-results.ts";
import type { UnionArm } from "./read-unions.ts";

export interface Tables {
  readonly codexVersion: string;
  readonly clientRequests: readonly PairedMethod[];
  readonly serverRequests: readonly PairedMethod[];
  readonly serverNotifications: readonly UnionArm[];
  readonly clientNotifications: readonly UnionArm[];
  /** Client requests that need `capabilities.experimentalApi`. */
  readonly experimentalMethods: ReadonlySet<string>;
}

/** Prints the module with the method tables. `locate` returns the import path of the module that declares a type. */
export function printTables(tables: Tables, locate: (type: string) => string): string {
  const { clientRequests, serverRequests, serverNotifications, clientNotifications } = tables;
  const typed = [...clientRequests, ...serverRequests];
  const expressions = [
    ...typed.flatMap(({ params, result }) => [params, result]),
    ...serverNotifications.map(({ params }) => params),
    ...clientNotifications.map(({ params }) => params),
  ];
  return [
    "// Generated from the pinned @openai/codex by scripts/generate.ts.",
    ...importLines(expressions, locate),
    "",
    "/** The Codex release from which these types were generated. */",
    `export const CODEX_VERSION = ${JSON.stringify(tables.codexVersion)};`,
    "",
    "/** Requests from a client to the app-server: params and result by method. */",
    ...requestTable("ClientRequests", clientRequests),
    "",
    "/** Requests from the app-server to a client. */",
    ...requestTable("ServerRequests", serverRequests),
    "",
    "/** Notifications from the app-server to a client. */",
    ...noticeTable("ServerNotifications", serverNotifications),
    "",
    "/** Notifications from a client to the app-server. */",
    ...noticeTable("ClientNotifications", clientNotifications),
    "",
    ...nameList("CLIENT_REQUEST_METHODS", "keyof ClientRequests", clientRequests),
    ...nameList("SERVER_REQUEST_METHODS", "keyof ServerRequests", serverRequests),
    ...nameList("SERVER_NOTIFICATION_METHODS", "keyof ServerNotifications", serverNotifications),
    "/** Client requests that need a connection with `capabilities.experimentalApi`. */",
    ...nameList(
      "EXPERIMENTAL_REQUEST_METHODS",
      "keyof ClientRequests",
      clientRequests.filter(({ method }) => tables.experimentalMethods.has(method)),
    ),
  ].join("\n");
}

function importLines(
  expressions: readonly (string | undefined)[],
  locate: (type: string) => string,
): string[] {
  const names = expressions.flatMap((expression) => expression?.match(/\b[A-Z]\w*/g) ?? []);
  return [...new Set(names)].toSorted().map((name) => `import type { ${name} } from "${locate(name)}";`);
}

function requestTable(name: string, methods: readonly PairedMethod[]): string[] {
  const rows = methods.map(
    ({ method, params, result }) => `  "${method}": { params: ${params ?? "undefined"}; result: ${result} };`,
  );
  return [`export interface ${name} {`, ...rows, "}"];
}

function noticeTable(name: string, methods: readonly UnionArm[]): string[] {
  return [
    `export interface ${name} {`,
    ...methods.map(({ method, params }) => `  "${method}": ${params ?? "undefined"};`),
    "}",
  ];
}

function nameList(name: string, type: string, methods: readonly UnionArm[]): string[] {
  const rows = methods.map(({ method }) => `  "${method}",`);
  return [`export const ${name}: readonly (${type})[] = [`, ...rows, "];", ""];
}
