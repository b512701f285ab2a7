// The program that performs file operations inside a sandbox: one request per input line, one answer per output line. It is
// started by its path and imports nothing from outside this package, because nothing else may be readable in the sandbox.
import { createInterface } from "node:readline";
import { type FileOperation, runFileOperation } from "../files/operations.ts";
import { decodeBase64 } from "../wire/base64.ts";
import { osFailure } from "../wire/os-failure.ts";
import { nativePath } from "../wire/path-uri.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { DirectFile, type BlockFile } from "../files/block-file.ts";
import { refuseGuarded } from "./write-guard.ts";

interface HelperRequest {
  readonly id: number;
  readonly method: string;
  readonly params: never;
}

interface HandleParams {
  /** Chosen by the server, unique in this helper. */
  readonly handle: number;
  readonly path: string;
  readonly mode?: "read" | "replace" | null;
  readonly offset: number;
  readonly len: number;
  readonly chunk: string;
}

/** Paths that did not exist when the sandbox was set up and must not be created. */
const guarded = JSON.parse(process.argv[2] ?? "[]") as readonly string[];
const files = new Map<number, BlockFile>();

async function run(method: string, params: HandleParams): Promise<unknown> {
  await refuseGuarded(method, params, guarded);
  switch (method) {
    case "fs/open":
      files.set(params.handle, await DirectFile.open(nativePath(params.path), params.mode ?? "read"));
      return {};
    case "fs/readBlock":
      return (await fileOf(params).read(params.offset, params.len)).bytes;
    case "fs/writeBlock": {
      const bytes = decodeBase64(params.chunk);
      if (!bytes) throw new Refusal(CODES.invalidParams, "chunk is not valid base64");
      await fileOf(params).write(params.offset, bytes);
      return {};
    }
    case "fs/close":
      await files.get(params.handle)?.close();
      files.delete(params.handle);
      return {};
    default:
      return runFileOperation(method as FileOperation, params);
  }
}

function fileOf({ handle }: HandleParams): BlockFile {
  const file = files.get(handle);
  if (!file) throw new Refusal(CODES.notFound, `unknown file handle ${handle}`);
  return file;
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
// `HELPER_STARTED` of `sandboxed-files.ts`, which can't be imported here.
process.stdout.write(`${JSON.stringify({ id: -1 })}\n`);
