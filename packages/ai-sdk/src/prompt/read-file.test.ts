import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { DownloadError } from "@ai-sdk/provider-utils";
import { tempFolder } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { pixelBytes as bytes, pixel as png, pixelUrl as pngUrl } from "../../test/pixel.ts";
import type { FileData } from "./file-source.ts";
import { promptLimits } from "./limits.ts";
import { readPrompt } from "./read-prompt.ts";

const tools = new Set<string>();

type User = Extract<LanguageModelV4Prompt[number], { role: "user" }>;

const user = (...content: (string | User["content"][number])[]): User => ({
  role: "user",
  content: content.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
});
const file = (data: FileData, mediaType: string, filename?: string): User["content"][number] => ({
  type: "file",
  // V3 and the AI SDK's shims pass untagged data, despite V4's types.
  data: data as { type: "text"; text: string },
  mediaType,
  ...(filename === undefined ? {} : { filename }),
});

/** Replaces `fetch` with fixed answers, so that no request leaves the machine. */
const answering =
  (answer: () => Response): typeof fetch =>
  async () =>
    answer();

describe("a user's file", () => {
  it.each<[string, FileData, string]>([
    ["bytes", { type: "data", data: bytes }, "image/png"],
    ["base64", { type: "data", data: png }, "image/*"],
    ["a data URL", { type: "url", url: new URL(pngUrl) }, "image"],
    ["a data URL instead of base64", { type: "data", data: pngUrl }, "image"],
    ["bare bytes", bytes, "image/jpeg"],
    ["a bare buffer", bytes.buffer, "image"],
    ["bare base64", png, "image"],
    ["a bare data URL", new URL(pngUrl), "image/png"],
  ])("is passed as an image with the type of its bytes: %s", async (_what, data, mediaType) => {
    const read = await readPrompt([user("see", file(data, mediaType))], { tools });
    expect(read.input).toEqual([{ text: "see" }, { image: pngUrl }]);
    expect(read.warnings).toEqual([]);
  });

  it("is downloaded if it is a URL", async () => {
    const url = "https://pictures.example/1.png";
    for (const data of [{ type: "url", url: new URL(url) }, new URL(url), url] as const) {
      const read = await readPrompt([user(file(data, "image/*"))], {
        tools,
        fetch: answering(() => new Response(bytes)),
      });
      expect(read.input).toEqual([{ image: pngUrl }]);
    }
  });

  it("is read from a path if it is an image, and never if it is a text file", async () => {
    await using folder = await tempFolder("ai-sdk-prompt");
    await writeFile(join(folder.path, "a.png"), bytes);
    await writeFile(join(folder.path, "secret.txt"), "secret");
    await mkdir(join(folder.path, "folder"));
    const at = (name: string): URL => pathToFileURL(join(folder.path, name));

    const read = await readPrompt(
      [user(file(at("a.png"), "image/png"), file(at("secret.txt"), "text/plain"))],
      {
        tools,
      },
    );
    expect(read.input[0]).toEqual({ image: pngUrl });
    expect(JSON.stringify(read.input)).not.toContain('"secret"');
    expect(read.warnings).toHaveLength(1);
    const disguised = await readPrompt([user(file(at("secret.txt"), "image/png"))], { tools });
    expect(disguised.warnings).toMatchObject([{ details: expect.stringContaining("none of these") }]);
    await expect(readPrompt([user(file(at("folder"), "image/png"))], { tools })).rejects.toThrow(
      DownloadError,
    );
    await expect(readPrompt([user(file(at("none.png"), "image/png"))], { tools })).rejects.toThrow("ENOENT");
  });

  it.each<[string, FileData, string, string?]>([
    ["V4's text", { type: "text", text: "a: 1" }, "application/yaml"],
    ["V4's text with a type that is not text", { type: "text", text: "a: 1" }, "application/pdf"],
    ["bytes", { type: "data", data: Buffer.from("a: 1") }, "text/plain"],
    ["base64", { type: "data", data: btoa("a: 1") }, "application/vnd.api+json"],
    ["a data URL without base64", new URL("data:text/plain,a:%201"), "text/plain"],
    ["source code that browsers mistake for a video", Buffer.from("a: 1"), "video/mp2t", "a.ts"],
    [
      "source code whose type systems don't know",
      Buffer.from("a: 1"),
      "application/octet-stream",
      "Makefile",
    ],
    ["a drawing", Buffer.from("a: 1"), "image/svg+xml"],
  ])("is inserted into the text if it is a text file: %s", async (_what, data, mediaType, filename) => {
    const read = await readPrompt([user(file(data, mediaType, filename))], { tools });
    const name = filename === undefined ? "" : ` name="${filename}"`;
    expect(read.input).toEqual([{ text: `<file${name} type="${mediaType}">\na: 1\n</file>` }]);
    expect(read.warnings).toEqual([]);
  });

  it.each<[string, FileData, string]>([
    ["a PDF", Buffer.from("%PDF-1.7"), "application/pdf"],
    ["a sound", Buffer.from("ID3"), "audio/mpeg"],
    ["an image of an unsupported type", Buffer.from("BM"), "image/bmp"],
    ["text that is not UTF-8", new Uint8Array([0xff, 0xfe, 0xfd]), "text/plain"],
    ["a reference", { type: "reference", reference: { codex: "file-1" } }, "image/png"],
    ["a malformed data URL", "data:text/plain,%E0%A4%A", "text/plain"],
    ["data of a future kind", { type: "hologram" } as unknown as FileData, "image/png"],
  ])("is left out with a warning and a note for the model: %s", async (_what, data, mediaType) => {
    const { input, warnings } = await readPrompt([user(file(data, mediaType, "f.bin"))], { tools });
    expect(warnings).toEqual([
      {
        type: "unsupported",
        feature: `file of type ${mediaType}`,
        details: expect.stringContaining('"f.bin"'),
      },
    ]);
    expect(input).toEqual([{ text: expect.stringMatching(/"f\.bin".* left out/) }]);
  });

  it("that can't be downloaded fails the call if it is new, and is left out if it is from the history", async () => {
    const unreachable = user(file(new URL("https://pictures.example/gone.png"), "image/png"));
    const context = { tools, fetch: answering(() => new Response("gone", { status: 404 })) };
    await expect(readPrompt([unreachable], context)).rejects.toThrow(/404/);
    const read = await readPrompt(
      [unreachable, { role: "assistant", content: [{ type: "text", text: "hm" }] }, user("and now?")],
      context,
    );
    const { items, warnings } = await read.readHistory();
    expect(warnings).toMatchObject([{ type: "unsupported", details: expect.stringContaining("404") }]);
    expect(JSON.stringify(items)).toContain("left out");
  });

  it("from the history is downloaded only for a thread that does not have it", async () => {
    let fetches = 0;
    const fetch = answering(() => {
      fetches += 1;
      return new Response(bytes);
    });
    const { readHistory } = await readPrompt(
      [
        user(file(new URL("https://pictures.example/1.png"), "image/png")),
        { role: "assistant", content: [{ type: "text", text: "hm" }] },
        user("and now?"),
      ],
      { tools, fetch },
    );
    expect(fetches).toBe(0);
    expect(JSON.stringify((await readHistory()).items)).toContain(pngUrl);
  });

  it("is not downloaded from private networks, by other protocols, or without a size limit", async () => {
    const from = (address: string, context = {}): Promise<unknown> =>
      readPrompt([user(file(new URL(address), "image/png"))], { tools, ...context });
    await expect(from("http://127.0.0.1:1/a.png")).rejects.toThrow(DownloadError);
    await expect(from("http://169.254.169.254/latest")).rejects.toThrow(DownloadError);
    await expect(from("ftp://pictures.example/a.png")).rejects.toThrow("ftp");
    const endless = (): Response =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(promptLimits.fileBytes / 4)),
        }),
      );
    await expect(from("https://pictures.example/a.png", { fetch: answering(endless) })).rejects.toThrow(
      "maximum size",
    );
  });

  it("is no longer downloaded once the call is aborted, and the call rejects with the caller's reason", async () => {
    const abort = new AbortController();
    const never: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("hung up")));
        abort.abort(new Error("enough"));
      });
    const reading = readPrompt([user(file(new URL("https://pictures.example/a.png"), "image/png"))], {
      tools,
      fetch: never,
      signal: abort.signal,
    });
    await expect(reading).rejects.toThrow("enough");
  });
});
