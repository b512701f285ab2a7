import * as z from "zod";
import { base64, wholeNumber } from "./process-params.ts";
import { sandboxContext } from "./sandbox-context.ts";

const at = { path: z.string(), sandbox: sandboxContext.nullish() };
const followSymlinks = z.boolean().nullish();
const recursive = z.boolean().nullish();

/** The params of every `fs/*` request, by method. */
export const fileParams = {
  "fs/readFile": z.object({ ...at, followSymlinks }),
  "fs/writeFile": z.object({ ...at, dataBase64: base64, followSymlinks }),
  "fs/createDirectory": z.object({ ...at, recursive, followSymlinks }),
  "fs/getMetadata": z.object({ ...at, followSymlinks }),
  "fs/canonicalize": z.object(at),
  "fs/readDirectory": z.object(at),
  "fs/walk": z.object({
    ...at,
    options: z.object({
      maxDepth: wholeNumber,
      maxDirectories: wholeNumber,
      maxEntries: wholeNumber,
      followDirectorySymlinks: z.boolean(),
      pruneHiddenDirectories: z.boolean().optional(),
    }),
  }),
  "fs/remove": z.object({ ...at, recursive, force: z.boolean().nullish(), followSymlinks }),
  "fs/copy": z.object({
    sourcePath: z.string(),
    destinationPath: z.string(),
    recursive: z.boolean(),
    sandbox: sandboxContext.nullish(),
  }),
  "fs/open": z.object({ ...at, handleId: z.string(), mode: z.enum(["read", "replace"]).nullish() }),
  "fs/readBlock": z.object({ handleId: z.string(), offset: wholeNumber, len: wholeNumber }),
  "fs/writeBlock": z.object({ handleId: z.string(), offset: wholeNumber, chunk: base64 }),
  "fs/close": z.object({ handleId: z.string() }),
  "fs/watchMissing": z.object({
    watchId: wholeNumber,
    missing: z.array(z.string()),
    present: z.string().nullish(),
    sandbox: sandboxContext.nullish(),
  }),
} as const;

export type FileMethod = keyof typeof fileParams;
export type FileParams<M extends FileMethod> = z.output<(typeof fileParams)[M]>;
