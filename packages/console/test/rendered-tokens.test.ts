import fc from "fast-check";
import { join } from "node:path";
import { build } from "vite";
import solid from "vite-plugin-solid";
import { expect, test } from "vitest";
import { useBrowser } from "./rig/index.ts";

const browser = useBrowser();
const MARKDOWN = join(import.meta.dirname, "../src/transcript/markdown");

/** The modules as a script, because the built page does not export them. */
async function bundle(): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["codexkit:source", "module", "browser", "import", "default"] },
    plugins: [
      solid(),
      {
        name: "entry",
        resolveId: (id) => (id === "virtual:entry" ? "\0entry" : undefined),
        load: (id) =>
          id === "\0entry"
            ? [
                `export { RenderedTokens } from ${JSON.stringify(join(MARKDOWN, "rendered-tokens.ts"))};`,
                `export { renderTokens } from ${JSON.stringify(join(MARKDOWN, "render-block.ts"))};`,
                `export { lexBlock } from ${JSON.stringify(join(MARKDOWN, "lex-blocks.ts"))};`,
              ].join("\n")
            : undefined,
      },
    ],
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rolldownOptions: {
        input: "virtual:entry",
        preserveEntrySignatures: "strict",
        output: { format: "iife", name: "markdown" },
      },
    },
  });
  const [first] = Array.isArray(output) ? output : [output];
  if (!first || !("output" in first)) throw new Error("The build has no output.");
  return first.output[0].code;
}

/** Pieces whose combinations change what was rendered before them. */
const pieces = fc.constantFrom(
  "word ",
  "**bold",
  "** ",
  "*em* ",
  "`code` ",
  "[a](https://example.com/",
  ") ",
  "\n",
  "\n\n",
  "# heading\n",
  "---\n",
  "- item\n",
  "  - nested\n",
  "1. one\n",
  "- [x] done\n",
  "> quote\n",
  "```ts\n",
  "```\n",
  "| a | b |\n|---|---|\n",
  "| 1 | 2 |\n",
  "~~gone~~ ",
  "<b>",
  "![image](https://example.com/a.png) ",
  "[ref]: https://example.com\n",
  "[ref] ",
  "  \n",
);

test("shows the same as a fresh rendering, whatever was shown before", async () => {
  const texts = fc.sample(
    fc.tuple(fc.array(fc.array(pieces, { maxLength: 6 }), { minLength: 1, maxLength: 8 }), fc.boolean()),
    { numRuns: 600, seed: 7 },
  );
  const page = await browser.browser.newPage();
  await page.addScriptTag({ content: await bundle() });
  const different = await page.evaluate((cases) => {
    interface Markdown {
      readonly RenderedTokens: new (element: Element) => { update(tokens: readonly object[]): void };
      readonly renderTokens: (tokens: readonly object[]) => DocumentFragment;
      readonly lexBlock: (raw: string) => readonly object[];
    }
    const { markdown } = globalThis as unknown as { readonly markdown: Markdown };
    return cases.flatMap(([steps, isGrowing]) => {
      const shown = document.createElement("div");
      const rendered = new markdown.RenderedTokens(shown);
      let text = "";
      for (const step of steps) {
        text = isGrowing ? text + step.join("") : step.join("");
        const tokens = markdown.lexBlock(text);
        rendered.update(tokens);
        const fresh = document.createElement("div");
        fresh.append(markdown.renderTokens(tokens));
        if (shown.innerHTML !== fresh.innerHTML)
          return [{ text, shown: shown.innerHTML, fresh: fresh.innerHTML }];
      }
      return [];
    });
  }, texts);
  expect(different).toEqual([]);
});
