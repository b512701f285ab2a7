import { join } from "node:path";
import { defineConfig } from "vite";
import solid, { type Options } from "vite-plugin-solid";

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  // The page has a strict content security policy: static styles are set through the CSSOM instead of the attribute.
  // The types of the plugin lack the option of its compiler.
  plugins: [solid({ solid: { inlineStyles: false } as NonNullable<Options["solid"]> })],
  resolve: { conditions: ["codexkit:source", "module", "browser", "import", "default"] },
  worker: { format: "es" },
  build: {
    outDir: join(import.meta.dirname, "dist/static"),
    emptyOutDir: true,
    target: "es2023",
    // Data URLs are not allowed by the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file compresses to two thirds of what the files of all screens have together.
    cssCodeSplit: false,
    reportCompressedSize: false,
    manifest: true,
    // Otherwise a busy machine makes the build print how long its plugins took.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { "^/(?!console/)": "http://127.0.0.1:4100" } },
});
