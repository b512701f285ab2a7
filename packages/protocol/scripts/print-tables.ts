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

/** Prints the module of tables. `locate` says which generated module declares a type, as an import path. */
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
    "/** The Codex release that these types are of. */",
    `export const CODEX_VERSION = ${JSON.stringify(tables.codexVersion)};`,
    "",
    "/** What a client may ask of the app-server: method to params and result. */",
    ...requestTable("ClientRequests", clientRequests),
    "",
    "/** What the app-server asks of a client. */",
    ...requestTable("ServerRequests", serverRequests),
    "",
    "/** What the app-server tells a client. */",
    ...noticeTable("ServerNotifications", serverNotifications),
    "",
    "/** What a client tells the app-server. */",
    ...noticeTable("ClientNotifications", clientNotifications),
    "",
    ...nameList("CLIENT_REQUEST_METHODS", "keyof ClientRequests", clientRequests),
    ...nameList("SERVER_REQUEST_METHODS", "keyof ServerRequests", serverRequests),
    ...nameList("SERVER_NOTIFICATION_METHODS", "keyof ServerNotifications", serverNotifications),
    "/** Client requests that the server refuses unless the connection opted into its experimental API. */",
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
