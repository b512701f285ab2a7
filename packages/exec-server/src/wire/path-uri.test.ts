import fc from "fast-check";
import { expect, test } from "vitest";
import { joinPath, nativePath, pathUri } from "./path-uri.ts";

test("every path survives the way there and back", () => {
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 12 })
    .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 47 ? 65 : byte))));
  const isPlain = (bytes: Buffer) =>
    ![".", ".."].includes(bytes.toString("latin1")) && !/^[A-Za-z]:$/.test(bytes.toString("latin1"));
  fc.assert(
    fc.property(fc.array(name.filter(isPlain), { minLength: 1, maxLength: 4 }), (names) => {
      const path = names.reduce<string | Buffer>((folder, child) => joinPath(folder, child), "/");
      const back = nativePath(pathUri(path));
      expect(Buffer.from(back as string).equals(Buffer.from(path as string))).toBe(true);
    }),
  );
});

test("paths that a URI can't say travel in base64", () => {
  const bytes = Buffer.from("/a\xff", "latin1");
  expect(nativePath(`file:///%00/bad/path/${bytes.toString("base64url")}`)).toEqual(bytes);
  expect(() => nativePath("file:///%00/bad/path/!!")).toThrow(/invalid/);
});
