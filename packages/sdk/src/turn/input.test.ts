import type { v2 } from "@codexkit/protocol";
import { say } from "@codexkit/scripted-model";
import { startAppServer, tempFolder } from "@codexkit/testing";
import fc from "fast-check";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { type Input, MAX_INPUT_CHARACTERS, textElements, toUserInput } from "./input.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const WAV = Buffer.from("RIFF\x24\x00\x00\x00WAVEfmt ", "latin1");
const DATA_URL = `data:image/png;base64,${PNG.toString("base64")}`;
const nowhere = { cwd: "/nowhere", local: false };

describe("text", () => {
  it("may be a string, a part, or a list of both", async () => {
    const hi: v2.UserInput = { type: "text", text: "hi", text_elements: [] };
    expect(await toUserInput("hi", nowhere)).toEqual([hi]);
    expect(await toUserInput({ text: "hi" }, nowhere)).toEqual([hi]);
    expect(await toUserInput(["hi", { text: "hi" }, hi], nowhere)).toEqual([hi, hi, hi]);
    expect(await toUserInput([], nowhere)).toEqual([]);
  });

  it("is counted in code points over all parts, as Codex counts", async () => {
    const large = "x".repeat(MAX_INPUT_CHARACTERS);
    await expect(toUserInput(large, nowhere)).resolves.toHaveLength(1);
    await expect(toUserInput("😀".repeat(MAX_INPUT_CHARACTERS), nowhere)).resolves.toHaveLength(1);
    for (const input of [`${large}x`, [large, { text: "x" }], "😀".repeat(MAX_INPUT_CHARACTERS + 1)]) {
      await expect(toUserInput(input, nowhere)).rejects.toMatchObject({
        code: "input_too_large",
        message: expect.stringContaining(String(MAX_INPUT_CHARACTERS + 1)) as string,
      });
    }
  });

  it("locates elements by the byte ranges of their placeholders", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.nat(9)), { minLength: 1 }),
        (pieces) => {
          const text = pieces.map(([before, number]) => `${before}[#${number}]`).join("");
          const placeholders = pieces.map(([, number]) => `[#${number}]`);
          const bytes = Buffer.from(text);
          for (const { byteRange, placeholder } of textElements(text, placeholders)) {
            expect(bytes.subarray(byteRange.start, byteRange.end).toString()).toBe(placeholder);
          }
        },
      ),
    );
    expect(() => textElements("a [b]", ["[b]", "[b]"])).toThrow(/does not contain "\[b\]" after/);
  });
});

describe("an image", () => {
  it("given as bytes becomes a data URL of the detected type", async () => {
    expect(await toUserInput({ image: PNG, detail: "high" }, nowhere)).toEqual([
      { type: "image", url: DATA_URL, detail: "high" },
    ]);
    const svg = Buffer.from("<svg/>");
    expect(await toUserInput({ image: svg, mimeType: "image/svg+xml" }, nowhere)).toEqual([
      { type: "image", url: `data:image/svg+xml;base64,${svg.toString("base64")}` },
    ]);
  });

  it("given as a file is sent as an absolute path", async () => {
    await using folder = await tempFolder("input");
    const path = join(folder.path, "shot one.png");
    await writeFile(path, PNG);
    for (const image of ["shot one.png", path, pathToFileURL(path), pathToFileURL(path).href]) {
      expect(await toUserInput({ image }, { cwd: folder.path })).toEqual([{ type: "localImage", path }]);
    }
  });

  it("given as a data URL is sent unchanged", async () => {
    expect(await toUserInput({ image: DATA_URL }, nowhere)).toEqual([{ type: "image", url: DATA_URL }]);
  });

  it("on another machine is not checked locally", async () => {
    expect(await toUserInput({ image: "shot.png" }, nowhere)).toEqual([
      { type: "localImage", path: "/nowhere/shot.png" },
    ]);
  });
});

describe("the other parts", () => {
  it("are audio, skills and mentions", async () => {
    await using folder = await tempFolder("input");
    const cwd = folder.path;
    await writeFile(join(cwd, "SKILL.md"), "");
    const input: Input = [
      { audio: WAV },
      { skill: { name: "greet", path: "SKILL.md" } },
      { mention: { name: "app", path: "app://app" } },
      { mention: { name: "file", path: "src/a.ts" } },
      { type: "image", fileId: "file-1" },
    ];
    expect(await toUserInput(input, { cwd })).toEqual([
      { type: "audio", url: `data:audio/wav;base64,${WAV.toString("base64")}` },
      { type: "skill", name: "greet", path: join(cwd, "SKILL.md") },
      { type: "mention", name: "app", path: "app://app" },
      { type: "mention", name: "file", path: join(cwd, "src/a.ts") },
      { type: "image", fileId: "file-1" },
    ]);
  });
});

it.each([
  ["a missing image", { image: "no-such.png" }, /^No image file exists at "\/nowhere\/no-such\.png"\.$/],
  ["a folder as an image", { image: "/" }, /^No image file exists at "\/"\.$/],
  ["a missing audio", { audio: "/no/such.wav" }, /^No audio file exists at "\/no\/such\.wav"\.$/],
  [
    "a missing skill",
    { skill: { name: "x", path: "x.md" } },
    /^No skill file exists at "\/nowhere\/x\.md"\.$/,
  ],
  ["a remote image", { image: "https://example.com/x.png" }, /does not download image files.*pass its bytes/],
  [
    "a remote image as a URL",
    { image: new URL("HTTP://example.com/x.png") },
    /does not download image files/,
  ],
  ["a remote audio", { audio: "https://example.com/x.wav" }, /does not download audio files/],
  ["a URL with another scheme", { image: "s3://bucket/x.png" }, /is not a data URL, file URL or path/],
  ["a data URL that is not base64", { image: "data:image/svg+xml,<svg/>" }, /must be base64-encoded/],
  ["bytes of an unknown type", { image: Buffer.from("hello") }, /is unknown. Pass it as mimeType/],
  ["audio as an image", { image: WAV }, /are audio\/wav, not image/],
  [
    "a part of an unknown kind",
    { picture: "x.png" },
    /needs text, image, audio, skill or mention; got picture/,
  ],
  ["undefined", undefined, /got undefined/],
])("rejects %s", async (_what, input, message) => {
  const wrong = input as unknown as Input;
  await expect(toUserInput(wrong, { cwd: "/nowhere" })).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringMatching(message) as string,
  });
});

describe("the real codex", () => {
  it("sends every part to the model", async () => {
    await using server = await startAppServer({ model: [[say("seen")]] });
    const peer = await server.connect();
    const completed = Promise.withResolvers<v2.Turn>();
    peer.on("turn/completed", ({ turn }) => completed.resolve(turn));
    const cwd = server.workspace;
    await writeFile(join(cwd, "shot.png"), PNG);
    const { thread } = await peer.request("thread/start", { cwd, approvalPolicy: "never", ephemeral: true });
    const text = "Look at [Image #1]";
    const input = await toUserInput(
      [{ text, elements: textElements(text, ["[Image #1]"]) }, { image: "shot.png" }, { image: PNG }],
      { cwd },
    );
    await peer.request("turn/start", { threadId: thread.id, input });
    expect((await completed.promise).status).toBe("completed");
    const sent = JSON.stringify(server.model.requests.at(-1)?.body);
    expect(sent).toContain(text);
    expect(sent.split(PNG.toString("base64"))).toHaveLength(3);
  });
});
