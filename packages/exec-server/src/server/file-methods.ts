import { DirectFile } from "../files/block-file.ts";
import {
  fileOperations,
  type FileOperation,
  type ReadOptions,
  runFileOperation,
} from "../files/operations.ts";
import { MissingWatches } from "../files/watch-missing.ts";
import type { HelperLease } from "../sandbox/helper-pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { decodeBase64 } from "../wire/base64.ts";
import { type FileMethod, fileParams, type FileParams } from "../wire/file-params.ts";
import { osFailure } from "../wire/os-failure.ts";
import { nativePath } from "../wire/path-uri.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";
import { type CallContext, LargeResult, type Method } from "../session/method.ts";

interface Sandboxed {
  readonly sandbox?: SandboxContext | null | undefined;
  readonly path?: string;
  readonly sourcePath?: string;
}

/** Operations that only read. They need no helper in a sandbox that allows reading everywhere. */
const READS: ReadonlySet<string> = new Set([
  "fs/readFile",
  "fs/getMetadata",
  "fs/canonicalize",
  "fs/readDirectory",
  "fs/walk",
  "fs/open",
]);

/** The `fs/*` methods of one connection, which owns its watches. Open files belong to its session. */
export function fileMethods(sandbox: Sandbox, onEnd: (release: () => void) => void): [string, Method][] {
  const watches = new MissingWatches();
  onEnd(() => watches.stopAll());

  const helperFor = async (
    method: FileMethod,
    { sandbox: context, path, sourcePath = path ?? "" }: Sandboxed,
  ): Promise<HelperLease | undefined> =>
    context
      ? sandbox.files(context, READS.has(method) ? "read" : "write", nativePath(sourcePath))
      : undefined;

  /** Options for operations that need no helper. */
  const readOptions = ({ sandbox: context }: Sandboxed): ReadOptions => ({
    isProcHidden: context ? sandbox.isRestricted(context) : false,
  });

  const remove = async (params: FileParams<"fs/remove">): Promise<unknown> => {
    try {
      using helper = await helperFor("fs/remove", params);
      return await (helper ? helper.files.call("fs/remove", params) : runFileOperation("fs/remove", params));
    } catch (error) {
      const path = nativePath(params.path);
      if (!params.sandbox || !isRefusedSandbox(error) || typeof path !== "string") throw error;
      using helper = await sandbox.filesForLinkRemoval(params.sandbox, path);
      if (!helper) throw error;
      return await helper.files.call("fs/remove", { ...params, recursive: false });
    }
  };

  const isPhantom = async (params: object): Promise<boolean> => {
    const path = nativePath((params as FileParams<"fs/getMetadata">).path);
    return typeof path === "string" && (await sandbox.isPhantom(path));
  };

  const plain = (method: FileOperation): [string, Method] => [
    method,
    {
      params: fileParams[method],
      lane: "ordinary",
      run: async (params: Sandboxed) => {
        using helper = await helperFor(method, params);
        if (method === "fs/getMetadata" && (await isPhantom(params))) throw notFound();
        const result = await (helper
          ? helper.files.call(method, params)
          : runFileOperation(method, params, readOptions(params)));
        return result instanceof Buffer ? new LargeResult('{"dataBase64":"', result, '"}') : result;
      },
    },
  ];

  const open = async (params: FileParams<"fs/open">, { session }: CallContext): Promise<object> => {
    const { handleId, path } = params;
    const mode = params.mode ?? "read";
    await session.files.open(handleId, mode, async () => {
      using helper = await helperFor(mode === "replace" ? "fs/writeBlock" : "fs/open", params);
      if (helper) return await helper.files.openFile(path, mode);
      return await DirectFile.open(nativePath(path), mode, readOptions(params));
    });
    return { handleId };
  };

  const readBlock = async (
    { handleId, offset, len }: FileParams<"fs/readBlock">,
    { session }: CallContext,
  ): Promise<LargeResult> => {
    const { bytes, eof } = await session.files.read(handleId, offset, len);
    return new LargeResult('{"chunk":"', bytes, `","eof":${eof}}`);
  };

  const writeBlock = async (
    { handleId, offset, chunk }: FileParams<"fs/writeBlock">,
    { session }: CallContext,
  ): Promise<object> => {
    const bytes = decodeBase64(chunk);
    if (!bytes) throw new Refusal(CODES.invalidParams, "chunk is not valid base64");
    await session.files.write(handleId, offset, bytes);
    return {};
  };

  const close = async ({ handleId }: FileParams<"fs/close">, { session }: CallContext): Promise<object> => {
    await session.files.close(handleId);
    return {};
  };

  const watch = async (params: FileParams<"fs/watchMissing">, { notify }: CallContext): Promise<object> => {
    if (params.sandbox && sandbox.needsHelper(params.sandbox, "read")) {
      throw new Refusal(CODES.invalidParams, "Paths can't be watched in this sandbox.");
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
    own("fs/remove", remove),
    own("fs/open", open),
    own("fs/readBlock", readBlock),
    own("fs/writeBlock", writeBlock),
    own("fs/close", close, "control"),
    own("fs/watchMissing", watch),
  ];
}

function isRefusedSandbox(error: unknown): boolean {
  return error instanceof Refusal && error.rpcCode === CODES.invalidParams;
}

function notFound(): Refusal {
  return new Refusal(CODES.notFound, "No such file or directory (os error 2)");
}
