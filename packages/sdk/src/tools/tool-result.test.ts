import { tempFolder } from "@codexkit/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TOOL_LIMITS } from "./limits.ts";
import { toContent } from "./tool-result.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const pngUrl = `data:image/png;base64,${png.toString("base64")}`;
const text = (words: string): object => ({ type: "inputText", text: words });

describe("the result of a tool", () => {
  it.each([
    ["a string", "hello", [text("hello")]],
    ["a text part", { text: "hello" }, [text("hello")]],
    ["nothing", undefined, [text("Done.")]],
    ["null", null, [text("null")]],
    ["a number", 7, [text("7")]],
    ["an object", { a: 1 }, [text('{\n  "a": 1\n}')]],
    ["an object that looks like a part", { text: "a", more: 1 }, [text('{\n  "text": "a",\n  "more": 1\n}')]],
    ["an array of strings, which is data", ["a"], [text('[\n  "a"\n]')]],
    ["an empty list", [], [text("[]")]],
    ["image bytes", { image: png }, [{ type: "inputImage", imageUrl: pngUrl }]],
    [
      "bytes of a given type",
      { image: new Uint8Array([1]), mimeType: "image/bmp" },
      [{ type: "inputImage", imageUrl: "data:image/bmp;base64,AQ==" }],
    ],
    ["a data URL", { image: pngUrl }, [{ type: "inputImage", imageUrl: pngUrl }]],
    [
      "audio bytes",
      { audio: Buffer.from("RIFF....WAVE") },
      [{ type: "inputAudio", audioUrl: "data:audio/wav;base64,UklGRi4uLi5XQVZF" }],
    ],
    [
      "a list of parts",
      ["see:", { image: pngUrl }, { text: "!" }],
      [text("see:"), { type: "inputImage", imageUrl: pngUrl }, text("!")],
    ],
  ] as const)("is converted to content: %s", async (_what, result, content) => {
    await expect(toContent(result)).resolves.toEqual(content);
  });

  it("can be a file, whose type is detected by its bytes or extension", async () => {
    await using folder = await tempFolder("tool-result");
    await writeFile(join(folder.path, "picture"), png);
    await writeFile(join(folder.path, "song.MP3"), "la la");
    await expect(toContent({ image: join(folder.path, "picture") })).resolves.toEqual([
      { type: "inputImage", imageUrl: pngUrl },
    ]);
    await expect(toContent({ audio: join(folder.path, "song.MP3") })).resolves.toMatchObject([
      { audioUrl: expect.stringMatching(/^data:audio\/mpeg;/) },
    ]);
  });

  it("is rejected if it can't be converted", async () => {
    await expect(toContent({ image: "/no/such/file.png" })).rejects.toThrow("ENOENT");
    await expect(toContent({ image: "https://example.com/a.png" })).rejects.toThrow("is a URL");
    await expect(toContent({ image: new Uint8Array([1, 2]) })).rejects.toThrow("mimeType");
    await expect(toContent({ image: new Uint8Array(TOOL_LIMITS.mediaBytes + 1) })).rejects.toThrow(
      "mediaBytes",
    );
    await expect(toContent(1n)).rejects.toThrow("BigInt");
    await expect(toContent(() => 1)).rejects.toThrow("JSON");
  });

  it("is cut with a note if it is too long", async () => {
    const [content] = await toContent("x".repeat(TOOL_LIMITS.textCharacters + 5));
    expect(content).toMatchObject({ text: expect.stringMatching(/x\n\[5 characters were omitted/) });
  });
});
