import * as z from "zod";
import { EXEC_LIMITS } from "../limits.ts";
import { runFileOperation } from "../files/operations.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Method } from "../server/connection.ts";
import { CODES } from "../wire/codes.ts";
import type { WalkResult } from "../wire/exec-wire.ts";
import { Refusal } from "../wire/refusal.ts";
import { sandboxContext } from "../wire/sandbox-context.ts";
import { type ReadText, rootBundle } from "./root-bundle.ts";

const MAX_ROOTS = 128;
const FILE_BYTES = 1024 * 1024;
const ROOT_BYTES = 16 * 1024 * 1024;

const WALK = {
  maxDepth: 6,
  maxDirectories: 2_000,
  maxEntries: 20_000,
  followDirectorySymlinks: true,
  pruneHiddenDirectories: false,
};

const discoverParams = z.object({
  roots: z.array(z.object({ id: z.string(), path: z.string(), sandbox: sandboxContext.nullish() })),
});

type Root = z.output<typeof discoverParams>["roots"][number];

/** `capabilityRoots/discoverV1`: what plugins and skills lie below some folders, in one answer. */
export function capabilityRootsMethod(sandbox: Sandbox): Method {
  return {
    params: discoverParams,
    lane: "ordinary",
    run: async ({ roots }: z.output<typeof discoverParams>) => {
      if (roots.length > MAX_ROOTS) {
        throw new Refusal(
          CODES.invalidRequest,
          `at most ${MAX_ROOTS} capability roots may be discovered at once`,
        );
      }
      return { roots: await Promise.all(roots.map((root) => discover(root, sandbox))) };
    },
  };
}

/** What is wrong with one root is said in its own answer. */
async function discover({ id, path, sandbox: context }: Root, sandbox: Sandbox): Promise<object> {
  const warnings: string[] = [];
  const empty = { id, path, plugin: null, skills: [], namespaceManifests: [], warnings };
  try {
    const helper = context ? sandbox.files(context, "read") : undefined;
    const run = (method: "fs/walk" | "fs/readFile", params: object): Promise<unknown> =>
      helper ? helper.call(method, params) : runFileOperation(method, params);
    const { entries } = (await run("fs/walk", { path, options: WALK })) as WalkResult;
    const files = entries.filter(({ kind }) => kind === "file").map((entry) => entry.path);
    const read = textReader((uri) => run("fs/readFile", { path: uri }) as Promise<Buffer>, warnings);
    return { ...empty, ...(await rootBundle(path, files, read, warnings)), error: null };
  } catch (error) {
    return { ...empty, error: error instanceof Error ? error.message : "the root can't be read" };
  }
}

/** Reads small UTF-8 files until the budget of the root is used up; what can't be read is a warning. */
function textReader(readFile: (uri: string) => Promise<Buffer>, warnings: string[]): ReadText {
  let left = Math.min(ROOT_BYTES, EXEC_LIMITS.messageBytes);
  return async (uri, { optional }) => {
    const bytes = await readFile(uri).catch((error: unknown) => {
      if (!optional || !(error instanceof Refusal && error.rpcCode === CODES.notFound)) {
        warnings.push(`${uri}: ${error instanceof Error ? error.message : "can't be read"}`);
      }
      return undefined;
    });
    if (!bytes) return undefined;
    left -= bytes.length;
    if (bytes.length > FILE_BYTES || left < 0) {
      warnings.push(`${uri}: larger than ${FILE_BYTES} bytes, or too much in all`);
      return undefined;
    }
    const contents = decodeUtf8(bytes);
    if (contents === undefined) warnings.push(`${uri}: not UTF-8`);
    return contents;
  };
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
