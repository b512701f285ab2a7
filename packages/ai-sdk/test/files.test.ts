import { say } from "@codexkit/scripted-model";
import { generateText } from "ai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { pixelBytes as png, pixelUrl } from "./pixel.ts";
import { codexStage } from "./codex-stage.ts";

const image = { type: "input_image", image_url: pixelUrl };

describe("the files of a prompt", () => {
  it("reach the model as images and text through ai 7; others cause a warning", async () => {
    await using stage = await codexStage(() => say("Seen."));
    const { warnings } = await generateText({
      model: stage.codex(),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See:" },
            { type: "file", mediaType: "image/png", data: png },
            { type: "file", mediaType: "video/mp2t", filename: "a.ts", data: Buffer.from("let a;") },
            { type: "file", mediaType: "application/pdf", filename: "b.pdf", data: Buffer.from("%PDF") },
          ],
        },
      ],
    });
    expect(warnings).toMatchObject([{ type: "unsupported", feature: "file of type application/pdf" }]);
    expect(stage.model.requests[0]?.input.at(-1)).toMatchObject({
      content: [
        { text: "See:" },
        image,
        { text: '<file name="a.ts" type="video/mp2t">\nlet a;\n</file>' },
        { text: expect.stringContaining('"b.pdf"') },
      ],
    });
  });

  it("are downloaded by URL and read by path", async () => {
    await using stage = await codexStage(() => say("Seen."), { fetch: async () => new Response(png) });
    await writeFile(join(stage.workspace, "a.png"), png);
    const at = (url: URL) => ({ type: "file", mediaType: "image/*", data: { type: "url", url } }) as const;
    await stage.codex().doGenerate({
      prompt: [
        {
          role: "user",
          content: [
            at(new URL("https://pictures.example/1.png")),
            at(pathToFileURL(join(stage.workspace, "a.png"))),
          ],
        },
      ],
    });
    expect(stage.model.requests[0]?.input.at(-1)).toMatchObject({ content: [image, image] });
  });
});

describe("a prompt with a file whose data is text", () => {
  it("is read like any other", async () => {
    await using stage = await codexStage([[say("read")]]);
    const { text } = await generateText({
      model: stage.codex(),
      messages: [
        {
          role: "user",
          content: [{ type: "file", mediaType: "text/plain", data: { type: "text", text: "file's words" } }],
        },
      ],
    });
    expect(text).toBe("read");
    expect(JSON.stringify(stage.model.requests[0]?.input)).toContain("file's words");
  });
});
