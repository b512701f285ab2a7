import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFiles } from "../../test/file-fixture.ts";
import { ImageStore } from "./image-store.ts";
import { FILE_LIMITS } from "./limits.ts";
import { Staging } from "./staging.ts";

async function* bytes(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part as string, "latin1");
}

const PNG = "\u0089PNG\r\n\u001a\n....";

test("recognises images by their contents, stores each once, and removes those of deleted sessions", async () => {
  await using files = await createFiles();
  const staging = new Staging(join(files.outside, "staging"));
  const store = new ImageStore(join(files.outside, "images"), staging, {
    ...FILE_LIMITS,
    imageBytes: 100,
    imagesPerSession: 2,
  });
  const image = await store.add("a/b", bytes(PNG.slice(0, 3), PNG.slice(3)));
  expect(image).toMatchObject({ type: "image/png", bytes: 12 });
  expect(await store.add("a/b", bytes(PNG))).toEqual(image);
  expect(await store.add("a/b", bytes("RIFF1234WEBPVP8 "))).toMatchObject({ type: "image/webp" });
  expect((await store.read("a/b", image.id)).contents.toString("latin1")).toBe(PNG);
  await expect(store.add("a/b", bytes("GIF89a"))).rejects.toMatchObject({ code: "too_many_images" });
  for (const text of ["<svg/>", "", "RIFF1234WAVE", "\u00ff\u00d8"]) {
    await expect(store.add("c", bytes(text))).rejects.toMatchObject({ code: "unsupported_media_type" });
  }
  await expect(store.add("c", bytes(PNG, "x".repeat(100)))).rejects.toMatchObject({ code: "body_too_large" });
  for (const id of ["none", "../a", image.id.replace(/./, "g")]) {
    await expect(store.read("a/b", id)).rejects.toMatchObject({ code: "not_found" });
  }
  await expect(store.require("c", image.id)).rejects.toMatchObject({ code: "not_found" });
  expect(await readdir(join(files.outside, "staging"))).toEqual([]);
  await store.removeExcept(async (sessionId) => sessionId !== "a/b");
  await expect(store.read("a/b", image.id)).rejects.toMatchObject({ code: "not_found" });
});
