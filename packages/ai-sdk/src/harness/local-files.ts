import type { HarnessV1NetworkSandboxSession } from "@ai-sdk/harness";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";

type SandboxSession = ReturnType<HarnessV1NetworkSandboxSession["restricted"]>;
type FileMethods = Pick<
  SandboxSession,
  "readFile" | "readBinaryFile" | "readTextFile" | "writeFile" | "writeBinaryFile" | "writeTextFile"
>;

/** Accesses this machine's files. Relative paths start at `root`. */
export function localFiles(root: string): FileMethods {
  const at = (path: string): string => resolve(root, path);
  const write = async (
    path: string,
    content: Uint8Array | ReadableStream<Uint8Array>,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), content, { signal });
  };
  const readBytes = (path: string, signal: AbortSignal | undefined): Promise<Buffer | null> =>
    unlessMissing(() => readFile(at(path), { signal }));
  return {
    readFile: ({ path, abortSignal }) =>
      unlessMissing(async () => {
        // Opened first, so that a missing file returns `null` instead of a stream that fails.
        const file = await open(at(path));
        const stream = file.createReadStream({ signal: abortSignal });
        return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
      }),
    readBinaryFile: ({ path, abortSignal }) => readBytes(path, abortSignal),
    readTextFile: async ({ path, encoding, startLine = 1, endLine = Infinity, abortSignal }) => {
      const bytes = await readBytes(path, abortSignal);
      if (bytes === null) return null;
      const text = new TextDecoder(encoding ?? "utf-8").decode(bytes);
      const isWhole = startLine <= 1 && endLine === Infinity;
      return isWhole ? text : (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).slice(startLine - 1, endLine).join("");
    },
    writeFile: ({ path, content, abortSignal }) => write(path, content, abortSignal),
    writeBinaryFile: ({ path, content, abortSignal }) => write(path, content, abortSignal),
    writeTextFile: ({ path, content, encoding = "utf-8", abortSignal }) =>
      write(path, Buffer.from(content, encoding as BufferEncoding), abortSignal),
  };
}

async function unlessMissing<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
