import { defineConfig } from "oxlint";

/**
 * The import arrows of docs/architecture.md: each package by its npm name, its folder below `packages/`,
 * and the packages it may import. `testing` may import anything; nothing that ships may import `testing`.
 */
const packages: Record<string, { folder: string; mayImport: readonly string[] }> = {
  "@codexkit/protocol": { folder: "protocol", mayImport: [] },
  "@codexkit/rpc": { folder: "rpc", mayImport: [] },
  "@codexkit/scripted-model": { folder: "scripted-model", mayImport: [] },
  "@codexkit/approvals": { folder: "approvals", mayImport: [] },
  "@codexkit/exec-server": { folder: "exec-server", mayImport: ["@codexkit/rpc"] },
  codexkit: { folder: "sdk", mayImport: ["@codexkit/approvals", "@codexkit/protocol", "@codexkit/rpc"] },
  "@codexkit/ai-sdk": { folder: "ai-sdk", mayImport: ["@codexkit/approvals", "@codexkit/rpc", "codexkit"] },
  "@codexkit/prompts": { folder: "prompts", mayImport: ["@codexkit/rpc", "codexkit"] },
  "@codexkit/provider": {
    folder: "provider",
    mayImport: ["@codexkit/approvals", "@codexkit/rpc", "codexkit"],
  },
  "@codexkit/store": { folder: "store", mayImport: ["@codexkit/rpc"] },
  "@codexkit/relay": {
    folder: "relay",
    mayImport: ["@codexkit/exec-server", "@codexkit/rpc", "@codexkit/store"],
  },
  "@codexkit/daemon": {
    folder: "daemon",
    mayImport: [
      "@codexkit/approvals",
      "@codexkit/exec-server",
      "@codexkit/rpc",
      "@codexkit/store",
      "codexkit",
    ],
  },
  "@codexkit/console": { folder: "console", mayImport: ["@codexkit/daemon"] },
  "@codexkit/cli": {
    folder: "cli",
    mayImport: [
      "@codexkit/approvals",
      "@codexkit/console",
      "@codexkit/daemon",
      "@codexkit/exec-server",
      "@codexkit/relay",
      "@codexkit/rpc",
      "@codexkit/scripted-model",
      "codexkit",
    ],
  },
  "@codexkit/testing": {
    folder: "testing",
    mayImport: ["@codexkit/protocol", "@codexkit/rpc", "@codexkit/scripted-model", "codexkit"],
  },
};

/** Tests may reach for the harness, whatever their package may import. */
const forTests = ["@codexkit/testing", "@codexkit/scripted-model"];

/** Refuses every workspace import but the allowed ones, and every relative path into another package. */
function onlyImports(who: string, allowed: readonly string[]): ["error", { patterns: object[] }] {
  // Named one by one: the linter's regular expressions have no look-ahead, and ignore one silently.
  const refused = Object.keys(packages).filter((name) => name !== who && !allowed.includes(name));
  const folders = Object.values(packages).map(({ folder }) => folder);
  return [
    "error",
    {
      patterns: [
        {
          regex: `^(?:${refused.join("|")})(?:/|$)`,
          message: `${who} may import: ${allowed.join(", ") || "no workspace package"}. See docs/architecture.md.`,
        },
        {
          regex: String.raw`^(?:\.\./)+(?:packages/)?(?:${folders.join("|")})/(?:dist|src|test)/`,
          message: "Import another package by its name, never by a path into its folder.",
        },
      ],
    },
  ];
}

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  options: { typeAware: true, denyWarnings: true },
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  ignorePatterns: ["**/dist/**", "**/generated/**", "**/node_modules/**"],
  rules: {
    "import/no-cycle": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/switch-exhaustiveness-check": [
      "error",
      { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
    ],
    "typescript/no-misused-promises": "error",
    "typescript/return-await": "error",
    "typescript/only-throw-error": "error",
    "typescript/prefer-readonly": "error",
    "eslint/eqeqeq": "error",
    "eslint/no-console": "error",
    // A value awaited in order is the point of most loops here: reads, writes and turns are sequences.
    "eslint/no-await-in-loop": "off",
    // Node's emitters are the wire; EventTarget would cost an allocation a message.
    "unicorn/prefer-event-target": "off",
    // `for … of` over a copied list is clearer than index arithmetic, and rarely hot.
    "unicorn/no-array-for-each": "error",
    // What comes over a wire is typed by assertion, once, where it is read.
    "typescript/no-unsafe-type-assertion": "off",
    // A helper stands beside its one use; closures that capture nothing cost nothing here.
    "unicorn/consistent-function-scoping": "off",
    // Spreading a few fields into a new value is how immutable data changes; none of these lists is long.
    "oxc/no-map-spread": "off",
    // `using _held = …` keeps a resource that is not used by its name.
    "eslint/no-underscore-dangle": "off",
    // The compiler's own check knows that a switch is exhaustive; this one does not.
    "typescript/consistent-return": "off",
    "import/no-unassigned-import": "off",
    // fast-check is used as `fc`, as its own documentation does.
    "import/no-named-as-default-member": "off",
    // Types are assertions too: `expectTypeOf` and `@ts-expect-error`.
    "vitest/expect-expect": "off",
    "promise/always-return": "off",
    // A promise executor that captures resolve is the ordinary shape of a bridge to callbacks.
    "promise/param-names": "off",
  },
  overrides: [
    ...Object.entries(packages).flatMap(([name, { folder, mayImport }]) => [
      {
        files: [`packages/${folder}/src/**/*.{ts,tsx}`],
        rules: { "eslint/no-restricted-imports": onlyImports(name, mayImport) },
      },
      {
        files: [`packages/${folder}/src/**/*.{test,soak}.ts`],
        rules: { "eslint/no-restricted-imports": onlyImports(name, [...mayImport, ...forTests]) },
      },
    ]),
    {
      // The types know these, Node 22 does not.
      files: ["packages/{ai-sdk,approvals,prompts,protocol,provider,scripted-model,sdk}/src/**/*.ts"],
      rules: {
        "eslint/no-restricted-globals": [
          "error",
          { name: "DisposableStack", message: "Import it from @codexkit/rpc/async: Node 22 has none." },
          { name: "AsyncDisposableStack", message: "Import it from @codexkit/rpc/async: Node 22 has none." },
        ],
      },
    },
    {
      // Its messages go to a worker, which has no origin of its own.
      files: ["packages/console/src/**"],
      rules: {
        "unicorn/require-post-message-target-origin": "off",
        // JSX assigns elements to variables through `ref`.
        "eslint/no-unassigned-vars": "off",
      },
    },
    {
      files: ["packages/*/src/**/*.{test,soak}.ts"],
      rules: { "eslint/no-restricted-globals": "off" },
    },
    {
      // Programs for people: what they print is their output.
      files: [
        "scripts/**",
        "packages/*/scripts/**",
        "examples/**",
        "bench/**",
        "interop/main.ts",
        "packages/*/src/bin/**",
      ],
      rules: { "eslint/no-console": "off" },
    },
  ],
});
