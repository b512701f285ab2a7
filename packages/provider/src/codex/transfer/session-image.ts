import { messageOf } from "@codexkit/rpc/async";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { z } from "zod";
import { ProviderError } from "../../contract/provider-error.ts";
import { rolloutPath, threadOf } from "./rollout-files.ts";

/** A session as `export` returns it: the rollout files of its thread and of the threads that it was forked from. */
export interface SessionImage {
  readonly sessionId: string;
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** Maximum size of an unpacked image. A year of work is a few hundred megabytes; more may be an attack. */
const MAX_IMAGE_BYTES = 1024 * 1024 * 1024;

const schema = z.strictObject({
  format: z.literal("codexkit-codex-session"),
  version: z.literal(1),
  sessionId: z.string(),
  files: z
    .array(
      z.strictObject({
        // The name determines the path, so only names of rollout files are accepted.
        name: z.string().refine((name) => rolloutPath(name) !== undefined, { error: "not a rollout" }),
        data: z.base64(),
      }),
    )
    .min(1),
});

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

export async function encodeImage({ sessionId, files }: SessionImage): Promise<Uint8Array> {
  const image: z.infer<typeof schema> = {
    format: "codexkit-codex-session",
    version: 1,
    sessionId,
    files: files.map(({ name, bytes }) => ({ name, data: bytes.toString("base64") })),
  };
  return new Uint8Array(await compress(JSON.stringify(image)));
}

/** @throws {ProviderError} `invalid_export` */
export async function decodeImage(bytes: Uint8Array): Promise<SessionImage> {
  try {
    const json = await decompress(bytes, { maxOutputLength: MAX_IMAGE_BYTES });
    const { sessionId, files } = schema.parse(JSON.parse(json.toString("utf8")));
    if (!files.some(({ name }) => threadOf(name) === sessionId)) throw new Error("it has no file of its own");
    return {
      sessionId,
      files: files.map(({ name, data }) => ({ name, bytes: Buffer.from(data, "base64") })),
    };
  } catch (error) {
    const why = messageOf(error);
    const message = `The bytes are not an exported Codex session: ${why}. Pass what \`export\` of a CodexProvider returned.`;
    throw new ProviderError("invalid_export", message, { cause: error });
  }
}
