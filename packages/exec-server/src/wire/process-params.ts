import * as z from "zod";
import { networkProxy } from "./network-proxy.ts";
import { sandboxContext } from "./sandbox-context.ts";

/** A non-negative integer that JSON can represent. */
export const wholeNumber = z.number().int().min(0);

/**
 * Named, because declarations would otherwise contain `Buffer<ArrayBufferLike>`, which TypeScript 5.6 can't
 * parse.
 */
export interface Base64Schema extends z.ZodType<string | Buffer, string | Buffer> {}

/** Base64, or bytes that were decoded on arrival. JSON itself can't contain bytes. */
export const base64: Base64Schema = z.union([z.string(), z.instanceof(Buffer)]);

const envPolicy = z.object({
  inherit: z.enum(["all", "core", "none"]),
  ignoreDefaultExcludes: z.boolean(),
  exclude: z.array(z.string()),
  set: z.record(z.string(), z.string()),
  includeOnly: z.array(z.string()),
});

export type EnvPolicy = z.output<typeof envPolicy>;

/** Asks to start a login shell from the state of an earlier one. */
const shellSnapshot = z.object({
  scopeId: z.string(),
  shell: z.object({ name: z.string(), path: z.string() }),
});

export const startParams = z.object({
  processId: z.string(),
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  tty: z.boolean(),
  pipeStdin: z.boolean().optional(),
  arg0: z.string().nullish(),
  envPolicy: envPolicy.nullish(),
  sandbox: sandboxContext.nullish(),
  enforceManagedNetwork: z.boolean().optional(),
  managedNetwork: z.unknown().optional(),
  networkProxy: networkProxy.nullish(),
  shellSnapshot: shellSnapshot.nullish(),
  metadata: z.unknown().optional(),
});

export const readParams = z.object({
  processId: z.string(),
  afterSeq: wholeNumber.nullish(),
  maxBytes: wholeNumber.nullish(),
  waitMs: wholeNumber.nullish(),
});

export const writeParams = z.object({
  processId: z.string(),
  chunk: base64,
  writeId: z.string(),
});

export const signalParams = z.object({ processId: z.string(), signal: z.literal("interrupt") });
export const terminateParams = z.object({ processId: z.string() });

export type StartParams = z.output<typeof startParams>;
export type ReadParams = z.output<typeof readParams>;
export type WriteParams = z.output<typeof writeParams>;
