import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import solid, { type Options } from "vite-plugin-solid";

/**
 * The page uses the lexer of marked alone. Its module ends with an instance of everything, which keeps the parser and the renderer
 * in the bundle: 3 KB of gzip.
 */
const lexerOnly: Plugin = {
  name: "marked-lexer-only",
  transform: {
    filter: { id: /\/marked\/lib\/marked\.esm\.js$/ },
    handler(code) {
      const instance = /var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(\w+,\w+\)\}/.exec(code);
      const lexer = /export\{.*?\b(?<name>\w+) as Lexer\b/.exec(code)?.groups?.["name"];
      if (!instance || lexer === undefined)
        throw new Error("The module of marked is built in another way. See `lexerOnly` in vite.config.ts.");
      return { code: `${code.slice(0, instance.index)}export{${lexer} as Lexer};`, map: null };
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  // The page has a strict content security policy: static styles are set through the CSSOM instead of the attribute.
  // The types of the plugin lack the option of its compiler.
  plugins: [solid({ solid: { inlineStyles: false } as NonNullable<Options["solid"]> }), lexerOnly],
  resolve: { conditions: ["codexkit:source", "module", "browser", "import", "default"] },
  worker: { format: "es" },
  build: {
    outDir: join(import.meta.dirname, "dist/static"),
    emptyOutDir: true,
    target: "es2023",
    // Data URLs are not allowed by the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
    // Otherwise a busy machine makes the build print how long its plugins took.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { "^/(?!console/)": "http://127.0.0.1:4100" } },
});
