import { FileHandles } from "../files/file-handles.ts";
import { fileOperations, type FileOperation, runFileOperation } from "../files/operations.ts";
import { MissingWatches } from "../files/watch-missing.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { SandboxedFiles } from "../sandbox/sandboxed-files.ts";
import { decodeBase64 } from "../wire/base64.ts";
import { CODES } from "../wire/codes.ts";
import { type FileMethod, fileParams, type FileParams } from "../wire/file-params.ts";
import { osFailure } from "../wire/os-failure.ts";
import { nativePath } from "../wire/path-uri.ts";
import { Refusal } from "../wire/refusal.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";
import type { CallContext, Method } from "./connection.ts";
import { LargeResult } from "./large-result.ts";

interface Sandboxed {
  readonly sandbox?: SandboxContext | null | undefined;
}

/** Operations that only look: under a sandbox that lets the whole disk be read they need no helper. */
const READS: ReadonlySet<string> = new Set([
  "fs/readFile",
  "fs/getMetadata",
  "fs/canonicalize",
  "fs/readDirectory",
  "fs/walk",
  "fs/open",
]);

/** The `fs/*` methods of one connection, which owns its open files and watches. */
export function fileMethods(sandbox: Sandbox, onEnd: (release: () => void) => void): [string, Method][] {
  const handles = new FileHandles();
  const watches = new MissingWatches();
  /** Files that were opened in a sandbox live in its helper. */
  const inHelpers = new Map<string, SandboxedFiles>();
  onEnd(() => {
    watches.stopAll();
    void handles.closeAll();
    for (const [id, helper] of inHelpers) void helper.call("fs/close", { handleId: id }).catch(() => {});
  });

  const helperFor = (method: FileMethod, { sandbox: context }: Sandboxed): SandboxedFiles | undefined =>
    context ? sandbox.files(context, READS.has(method) ? "read" : "write") : undefined;

  const isPhantom = (params: object): boolean => {
    const path = nativePath((params as FileParams<"fs/getMetadata">).path);
    return typeof path === "string" && sandbox.isPhantom(path);
  };

  const plain = (method: FileOperation): [string, Method] => [
    method,
    {
      params: fileParams[method],
      lane: "ordinary",
      run: async (params: Sandboxed) => {
        const helper = helperFor(method, params);
        if (method === "fs/getMetadata" && isPhantom(params)) throw notThere();
        const result = await (helper ? helper.call(method, params) : runFileOperation(method, params));
        return result instanceof Buffer ? new LargeResult('{"dataBase64":"', result, '"}') : result;
      },
    },
  ];

  const open = async (params: FileParams<"fs/open">): Promise<object> => {
    const { handleId, mode } = params;
    const helper = helperFor(mode === "replace" ? "fs/writeBlock" : "fs/open", params);
    if (helper && inHelpers.has(handleId)) {
      throw new Refusal(CODES.invalidRequest, `file handle \`${handleId}\` already exists`);
    }
    if (helper) {
      await helper.call("fs/open", params);
      inHelpers.set(handleId, helper);
    } else await handles.open(handleId, nativePath(params.path), mode ?? "read");
    return { handleId };
  };

  const readBlock = async ({ handleId, offset, len }: FileParams<"fs/readBlock">): Promise<LargeResult> => {
    const helper = inHelpers.get(handleId);
    const { bytes, eof } = helper
      ? await helper.readBlock(handleId, offset, len)
      : await handles.read(handleId, offset, len);
    return new LargeResult('{"chunk":"', bytes, `","eof":${eof}}`);
  };

  const writeBlock = async (params: FileParams<"fs/writeBlock">): Promise<object> => {
    const helper = inHelpers.get(params.handleId);
    if (helper) {
      await helper.call("fs/writeBlock", params);
      return {};
    }
    const bytes = decodeBase64(params.chunk);
    if (!bytes) throw new Refusal(CODES.invalidParams, "chunk is not valid base64");
    await handles.write(params.handleId, params.offset, bytes);
    return {};
  };

  const close = async (params: FileParams<"fs/close">): Promise<object> => {
    const helper = inHelpers.get(params.handleId);
    inHelpers.delete(params.handleId);
    await (helper ? helper.call("fs/close", params) : handles.close(params.handleId));
    return {};
  };

  const watch = async (params: FileParams<"fs/watchMissing">, { notify }: CallContext): Promise<object> => {
    if (helperFor("fs/readFile", params)) {
      throw new Refusal(CODES.invalidParams, "watching is not possible in this sandbox");
    }
    const present = typeof params.present === "string" ? nativePath(params.present) : undefined;
    const missing = params.missing.map((uri) => nativePath(uri));
    const fired = (): void => notify("fs/missingChanged", { watchId: params.watchId });
    return { watching: watches.start(params.watchId, missing, present, fired) };
  };

  const own = <M extends FileMethod>(
    method: M,
    run: (params: FileParams<M>, context: CallContext) => Promise<unknown>,
    lane: Method["lane"] = "ordinary",
  ): [string, Method] => [
    method,
    {
      params: fileParams[method],
      lane,
      run: (params: FileParams<M>, context: CallContext) =>
        run(params, context).catch((error: unknown) => {
          throw osFailure(error);
        }),
    },
  ];

  return [
    ...(Object.keys(fileOperations) as FileOperation[]).map(plain),
    own("fs/open", open),
    own("fs/readBlock", readBlock),
    own("fs/writeBlock", writeBlock),
    own("fs/close", close, "control"),
    own("fs/watchMissing", watch),
  ];
}

function notThere(): Refusal {
  return new Refusal(CODES.notFound, "No such file or directory (os error 2)");
}
