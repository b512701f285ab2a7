import { tempFolder } from "@codexkit/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { localFiles } from "./local-files.ts";

it("keeps a file open while it is read, even if the garbage collector runs", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  await using folder = await tempFolder("local-files");
  // More than a stream buffers in advance.
  const content = Buffer.alloc(4 * 1024 * 1024, "x");
  await writeFile(join(folder.path, "large"), content);
  const stream = await localFiles(folder.path).readFile({ path: "large" });
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await setImmediate();
  }
  expect((await buffer(stream ?? new ReadableStream())).equals(content)).toBe(true);
});
