import { expect, it } from "vitest";
import type { ThreadItem } from "../../feed/index.ts";
import { imagesOf } from "./images-of.ts";

const of = (item: object): unknown => imagesOf({ id: "item", ...item } as unknown as ThreadItem);

it("finds input and output images", () => {
  const content = [
    { type: "text", text: "Look" },
    { type: "localImage", path: "/tmp/a.png" },
    { type: "image", url: "data:image/png;base64,AAAA" },
  ];
  expect(of({ type: "userMessage", content })).toEqual([
    { type: "file", path: "/tmp/a.png" },
    { type: "data", mediaType: "image/png", base64: "AAAA", name: "Image" },
  ]);
  expect(of({ type: "imageView", path: "shot.png" })).toEqual([{ type: "file", path: "shot.png" }]);
  expect(of({ type: "imageGeneration", savedPath: "/tmp/made.png" })).toHaveLength(1);
  expect(of({ type: "imageGeneration" })).toEqual([]);
});

it("finds images of an MCP tool, and ignores invalid ones", () => {
  const result = {
    content: [
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "image", data: "AAAA", mimeType: "text/html" },
      { type: "image", mimeType: "image/png" },
      null,
    ],
  };
  expect(of({ type: "mcpToolCall", tool: "shot", result })).toEqual([
    { type: "data", mediaType: "image/png", base64: "AAAA", name: "Image of shot" },
  ]);
  expect(of({ type: "mcpToolCall", tool: "shot", result: null })).toEqual([]);
});

it("ignores images of other hosts", () => {
  expect(of({ type: "userMessage", content: [{ type: "image", url: "https://example.com/a.png" }] })).toEqual(
    [],
  );
});
