// The program that does file operations inside a sandbox: a request a line in, an answer a line out. It is reached by
// path, and imports nothing from outside this package's own folder: in a sandbox there may be nothing else to read.
import { createInterface } from "node:readline";
import { FileHandles } from "../files/file-handles.ts";
import { type FileOperation, runFileOperation } from "../files/operations.ts";
import { decodeBase64 } from "../wire/base64.ts";
import { CODES } from "../wire/codes.ts";
import { osFailure } from "../wire/os-failure.ts";
import { nativePath } from "../wire/path-uri.ts";
import { Refusal } from "../wire/refusal.ts";

interface HelperRequest {
  readonly id: number;
  readonly method: string;
  readonly params: never;
}

interface HandleParams {
  readonly handleId: string;
  readonly path: string;
  readonly mode?: "read" | "replace" | null;
  readonly offset: number;
  readonly len: number;
  readonly chunk: string;
}

const handles = new FileHandles();

async function run(method: string, params: HandleParams): Promise<unknown> {
  switch (method) {
    case "fs/open":
      await handles.open(params.handleId, nativePath(params.path), params.mode ?? "read");
      return { handleId: params.handleId };
    case "fs/readBlock":
      return (await handles.read(params.handleId, params.offset, params.len)).bytes;
    case "fs/writeBlock": {
      const bytes = decodeBase64(params.chunk);
      if (!bytes) throw new Refusal(CODES.invalidParams, "chunk is not valid base64");
      await handles.write(params.handleId, params.offset, bytes);
      return {};
    }
    case "fs/close":
      await handles.close(params.handleId);
      return {};
    default:
      return runFileOperation(method as FileOperation, params);
  }
}

async function answer({ id, method, params }: HelperRequest): Promise<object> {
  try {
    const result = await run(method, params);
    return result instanceof Buffer ? { id, bytes: result.toString("base64") } : { id, result };
  } catch (thrown) {
    const error = osFailure(thrown);
    const message = error instanceof Error ? error.message : "internal error";
    return { id, error: { code: error instanceof Refusal ? error.rpcCode : CODES.internal, message } };
  }
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on("line", (line) => {
  void answer(JSON.parse(line) as HelperRequest).then((reply) =>
    process.stdout.write(`${JSON.stringify(reply)}\n`),
  );
});
