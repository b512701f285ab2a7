// Requests of every kind, for tests of cards.
import type { InboxRequest } from "@codexkit/daemon/client";

type RequestOf<Kind extends InboxRequest["kind"]> = Extract<InboxRequest, { kind: Kind }>;

export const fileChange: RequestOf<"fileChange"> = {
  kind: "fileChange",
  reason: "the parser drops the last token",
  grantRoot: null,
  changes: [
    {
      path: "src/parser.ts",
      kind: "update",
      diff: `@@ -1,4 +1,4 @@
 export function parse(text: string): Token[] {
-  const tokens = split(text, " ");
+  const tokens = split(text, /\\s+/);
   return tokens;
 }
`,
    },
    { path: "src/tokens.ts", kind: "add", diff: "export interface Token {\n  text: string;\n}\n" },
  ],
};

export const permissions: RequestOf<"permissions"> = {
  kind: "permissions",
  cwd: "/srv/app",
  reason: "the tests need the cache",
  permissions: {
    network: { enabled: true },
    fileSystem: { read: ["/etc/hosts"], write: ["/srv/cache", "/srv/logs"] },
  },
};

export const questions: RequestOf<"userInput"> = {
  kind: "userInput",
  isBlocking: true,
  questions: [
    {
      id: "database",
      header: "Database",
      question: "Which database should the tests use?",
      isOther: true,
      isSecret: false,
      options: [
        { label: "SQLite", description: "no server is needed" },
        { label: "Postgres", description: "as in production" },
      ],
    },
    {
      id: "key",
      header: "Key",
      question: "What is the licence key?",
      isOther: false,
      isSecret: true,
      options: null,
    },
  ],
};

export const form: RequestOf<"elicitation"> = {
  kind: "elicitation",
  server: "shop",
  mode: "form",
  message: "Who gets the parcel?",
  url: null,
  schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 2 },
      parcels: { type: "integer", title: "Parcels", minimum: 1, maximum: 9, default: 1 },
      speed: { type: "string", title: "Speed", enum: ["slow", "fast"], enumNames: ["Slow", "Fast"] },
      gift: { type: "boolean", title: "It is a gift" },
    },
    required: ["name"],
  },
};

export const visit: RequestOf<"elicitation"> = {
  kind: "elicitation",
  server: "shop",
  mode: "url",
  message: "Sign in to your account.",
  schema: null,
  url: "https://accounts.shop.example:8443/sign-in?state=abc",
};

export const mcpTool: RequestOf<"mcpTool"> = {
  kind: "mcpTool",
  server: "shop",
  tool: "order",
  title: "Order a parcel",
  description: "Orders a parcel for a person",
  arguments: { person: "Ann\u202E", parcels: 2 },
  message: "Allow the server shop to run the tool order?",
};
