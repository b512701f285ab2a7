import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { PromptSession } from "../session/session.ts";
import { definePromptTool } from "../tools/define-prompt-tool.ts";
import { customPolicy } from "../guardrails/policies.ts";
import { definePrompt } from "./define-prompt.ts";
import { renderPrompt } from "./render-prompt.ts";
import type { Section } from "./section.ts";

const context = { session: new PromptSession(), workspacePreview: undefined };

const tool = (name: string) =>
  definePromptTool({ name, description: name, input: z.strictObject({}), handler: () => name });

describe("rendering", () => {
  test("sections are rendered depth-first under numbered headings, without disabled ones", () => {
    const prompt = definePrompt({
      ns: "test",
      key: "tree",
      params: z.object({ name: z.string() }),
      sections: [
        {
          key: "a",
          title: "A",
          render: ({ name }) => `Hello ${name}.`,
          children: [
            { key: "x", title: "X", render: "Never.", enabled: () => false },
            { key: "y", title: "Y", render: "Child." },
          ],
        },
        { key: "b", title: "B", render: "Last." },
      ],
    });

    const { text, sections } = renderPrompt(prompt.bind({ name: "Ada" }), { context });

    expect(text).toBe("## 1. A\n\nHello Ada.\n\n### 1.1. Y\n\nChild.\n\n## 2. B\n\nLast.");
    expect(sections.map(({ path, number }) => [path, number])).toEqual([
      ["a", "1"],
      ["a.y", "1.1"],
      ["b", "2"],
    ]);
  });

  test("a summarised section closes the tools below it until it is opened", () => {
    const prompt = definePrompt({
      ns: "test",
      key: "closed",
      tools: [tool("free")],
      sections: [
        {
          key: "guide",
          title: "Guide",
          render: "Long.",
          summary: "Short.",
          visibility: "summary",
          children: [{ key: "part", title: "Part", render: "Part.", tools: [tool("locked")] }],
        },
      ],
    }).bind();

    const closed = renderPrompt(prompt, { context });
    const opened = renderPrompt(prompt, { context, opened: new Set(["guide"]) });

    expect(closed.text).toContain('call open_sections with keys ["guide"]');
    expect(closed.text).not.toContain("Part.");
    expect(Object.fromEntries(closed.tools.map((one) => [one.tool.name, one.closedBy]))).toEqual({
      locked: "guide",
      free: undefined,
    });
    expect(opened.text).toContain("Part.");
    expect(opened.tools.every(({ closedBy }) => closedBy === undefined)).toBe(true);
  });

  test("the same prompt always renders the same text, with as many headings as enabled sections", () => {
    const fields = {
      key: fc.stringMatching(/^[a-z]{1,3}$/),
      title: fc.stringMatching(/^[A-Z]{1,5}$/),
      render: fc.stringMatching(/^[a-z ]{0,9}$/),
    };
    const { section } = fc.letrec<{ section: Section<object> }>((tie) => ({
      section: fc.oneof(
        { maxDepth: 3 },
        fc.record(fields),
        fc.record({
          ...fields,
          children: fc.uniqueArray(tie("section"), { maxLength: 2, selector: ({ key }) => key }),
        }),
      ),
    }));
    const sections = fc.uniqueArray(section, { minLength: 1, maxLength: 4, selector: ({ key }) => key });
    fc.assert(
      fc.property(sections, (tree) => {
        const prompt = definePrompt({ ns: "p", key: "k", sections: tree }).bind();
        const first = renderPrompt(prompt, { context });
        expect(renderPrompt(prompt, { context })).toEqual(first);
        expect(first.text.match(/^#+ [\d.]+\. /gm)?.length).toBe(first.sections.length);
        // Numbers have the same order as the text.
        const numbers = first.sections.map(({ number }) => number.split(".").map(Number));
        expect(numbers).toEqual(numbers.toSorted(compareNumbers));
      }),
      { numRuns: 100 },
    );
  });
});

function compareNumbers(left: readonly number[], right: readonly number[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (value !== other) return value - other;
  }
  return left.length - right.length;
}

describe("definitions", () => {
  test.for([
    ["a bad namespace", { ns: "No Spaces", key: "k", sections: [{ key: "a", title: "A", render: "" }] }],
    ["no sections", { ns: "n", key: "k", sections: [] }],
    [
      "two sections with one key",
      { ns: "n", key: "k", sections: [1, 2].map(() => ({ key: "a", title: "A", render: "" })) },
    ],
    ["a dot in a section's key", { ns: "n", key: "k", sections: [{ key: "a.b", title: "A", render: "" }] }],
    [
      "a summary that is missing",
      { ns: "n", key: "k", sections: [{ key: "a", title: "A", render: "", visibility: "summary" as const }] },
    ],
    [
      "two tools with one name",
      {
        ns: "n",
        key: "k",
        tools: [tool("t")],
        sections: [{ key: "a", title: "A", render: "", tools: [tool("t")] }],
      },
    ],
  ])("%s is rejected", ([, options]) => {
    expect(() => definePrompt(options as Parameters<typeof definePrompt>[0])).toThrow(
      expect.objectContaining({ code: "invalid_definition" }) as Error,
    );
  });

  test("a missing parameter is a type error and a clear run-time error", () => {
    const prompt = definePrompt({
      ns: "n",
      key: "k",
      params: z.object({ branch: z.string() }),
      sections: [{ key: "a", title: "A", render: ({ branch }) => branch }],
    });
    // @ts-expect-error -- the parameter is missing
    expect(() => prompt.bind({})).toThrow(/branch/);
    // @ts-expect-error -- there are no parameters at all
    expect(() => prompt.bind()).toThrow(expect.objectContaining({ code: "invalid_parameters" }) as Error);
  });

  test("a misspelt option is rejected with the right name", () => {
    // @ts-expect-error -- not an option
    expect(() => definePrompt({ ns: "n", key: "k", section: [] })).toThrow(/sections/);
  });
});

describe("callers without types", () => {
  const render = (section: Partial<Section<object>>): string =>
    renderPrompt(
      definePrompt({
        ns: "n",
        key: "k",
        sections: [{ key: "a", title: "A", render: "text", ...section }],
      }).bind(),
      { context },
    ).text;

  test("a section whose enabled returns a promise is rejected, because it would always be enabled", () => {
    expect(() => render({ enabled: (async () => false) as never })).toThrow(/enabled returned object/);
  });

  test("an unknown visibility is rejected", () => {
    const hidden = (() => "hidden") as never;
    expect(() => render({ visibility: hidden, summary: "s" })).toThrow(/visibility must be/);
  });

  test.for(["read_section", "open_sections"])("the name %s is reserved", (name) => {
    expect(() => render({ tools: [tool(name)] })).toThrow(/opens sections/);
  });

  test("two policies with the same name are rejected, but one policy in two places is not", () => {
    const policy = () => customPolicy("p", () => undefined);
    const one = policy();
    expect(() => render({ policies: [policy(), policy()] })).toThrow(/two policies named "p"/);
    expect(render({ policies: [one, one] })).toBe("## 1. A\n\ntext");
  });

  test("parameters for a prompt without parameters are rejected", () => {
    const prompt = definePrompt({ ns: "n", key: "k", sections: [{ key: "a", title: "A", render: "" }] });
    expect(() => (prompt.bind as (params: object) => unknown)({ a: 1 })).toThrow(/has no parameters/);
  });
});
