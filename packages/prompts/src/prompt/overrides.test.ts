import { expect, test } from "vitest";
import { z } from "zod";
import { PromptSession } from "../session/session.ts";
import { definePromptTool } from "../tools/define-prompt-tool.ts";
import { definePrompt } from "./define-prompt.ts";
import { hashSection, hashTool, PromptOverrides } from "./overrides.ts";
import { renderPrompt } from "./render-prompt.ts";

const context = { session: new PromptSession(), workspacePreview: undefined };
const section = { key: "task", title: "Task", render: ({ name }: { name: string }) => `Greet ${name}.` };
const tool = definePromptTool({
  name: "wave",
  description: "Waves",
  input: z.strictObject({}),
  handler: () => "waved",
});
const prompt = definePrompt({
  ns: "n",
  key: "k",
  params: z.object({ name: z.string() }),
  sections: [section],
  tools: [tool],
}).bind({ name: "Ada" });

const stored = (sectionHash: string, toolHash: string, text = "Welcome {{name}}!") =>
  PromptOverrides.parse(
    JSON.stringify({
      version: 1,
      sections: { task: { hash: sectionHash, text } },
      tools: { wave: { hash: toolHash, description: "Waves politely" } },
    }),
  );

test("overrides replace texts and descriptions whose hash matches", () => {
  const overrides = stored(hashSection(section), hashTool(tool));

  const { text, tools } = renderPrompt(prompt, { context, overrides });

  expect(text).toBe("## 1. Task\n\nWelcome Ada!");
  expect(tools.map(({ description }) => description)).toEqual(["Waves politely"]);
  expect(overrides.stale).toEqual([]);
});

test("overrides of a text that has since changed are dropped and reported", () => {
  const overrides = stored("old", "old");

  const { text, tools } = renderPrompt(prompt, { context, overrides });

  expect(text).toBe("## 1. Task\n\nGreet Ada.");
  expect(tools.map(({ description }) => description)).toEqual(["Waves"]);
  expect(overrides.stale).toEqual(["task", "wave"]);
});

test("an override with an unknown parameter is rejected by name", () => {
  const overrides = stored(hashSection(section), hashTool(tool), "Hi {{nmae}}");

  expect(() => renderPrompt(prompt, { context, overrides })).toThrow(/"nmae"/);
});

test("an invalid overrides file is rejected", () => {
  expect(() => PromptOverrides.parse('{"version":2}')).toThrow(
    expect.objectContaining({ code: "invalid_snapshot" }) as Error,
  );
});

test("overrides of sections and tools that the prompt does not have are stale", () => {
  const overrides = new PromptOverrides({
    version: 1,
    sections: { tsk: { hash: "h", text: "t" } },
    tools: { wav: { hash: "h", description: "d" } },
  });
  renderPrompt(prompt, { context, overrides });
  expect(overrides.stale).toEqual(["tsk", "wav"]);
});

test("overrides of a section that is not enabled now are not stale", () => {
  const hidden = { key: "hidden", title: "Hidden", render: "h", enabled: () => false };
  const overrides = new PromptOverrides({
    version: 1,
    sections: { hidden: { hash: hashSection(hidden), text: "t" } },
    tools: {},
  });
  const definition = definePrompt({
    ns: "n",
    key: "k",
    sections: [hidden, { key: "a", title: "A", render: "a" }],
  });
  renderPrompt(definition.bind(), { context, overrides });
  expect(overrides.stale).toEqual([]);
});

test.for([
  ["{", /not JSON/],
  ['{"version":2,"sections":{},"tools":{}}', /version/],
  ['{"version":1,"sections":{},"tools":{},"sektions":{}}', /sektions/],
  ['{"version":1,"sections":{"a":{"hash":1,"text":""}},"tools":{}}', /sections\.a\.hash/],
] as const)("the error describes the problem with %s", ([json, problem]) => {
  expect(() => PromptOverrides.parse(json)).toThrow(problem);
});

test("overrides of the wrong type are rejected", () => {
  expect(() => new PromptOverrides({ version: 1, sections: { a: 3 } } as never)).toThrow(
    expect.objectContaining({ code: "invalid_snapshot" }) as Error,
  );
});
