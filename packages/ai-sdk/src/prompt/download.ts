import { DownloadError, fetchUntrustedUrl, readResponseWithSizeLimit } from "@ai-sdk/provider-utils";
import { readFile, stat } from "node:fs/promises";
import { promptLimits } from "./limits.ts";

export interface DownloadContext {
  readonly signal?: AbortSignal | undefined;
  /** Replaces the default, which rejects private networks. A custom one is responsible for its connections. */
  readonly fetch?: typeof fetch | undefined;
}

/** Downloads a URL. Codex itself downloads nothing, and rejects URLs. */
export async function download(url: URL, { signal, fetch }: DownloadContext): Promise<Uint8Array> {
  signal?.throwIfAborted();
  if (url.protocol === "file:") return readLocal(url);
  if (!/^https?:$/.test(url.protocol)) {
    const message = `Only http, https, data and file addresses are read, got ${url.protocol}//…`;
    throw new DownloadError({ url: url.href, message });
  }
  const timeout = AbortSignal.timeout(promptLimits.downloadMs);
  const abortSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await fetchUntrustedUrl({
      url: url.href,
      abortSignal,
      ...(fetch === undefined ? {} : { fetch }),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new DownloadError({
        url: url.href,
        statusCode: response.status,
        statusText: response.statusText,
      });
    }
    return await readResponseWithSizeLimit({ response, url: url.href, maxBytes: promptLimits.fileBytes });
  } catch (error) {
    // The caller's own abort is its reason, not a failed download.
    signal?.throwIfAborted();
    if (DownloadError.isInstance(error)) throw error;
    throw new DownloadError({ url: url.href, cause: error });
  }
}

/** Checks the file type first: reading a pipe or a device might never end. */
async function readLocal(url: URL): Promise<Uint8Array> {
  try {
    const found = await stat(url);
    if (!found.isFile() || found.size > promptLimits.fileBytes) {
      throw new RangeError(`a file of at most ${promptLimits.fileBytes} bytes is read, and nothing else`);
    }
    return await readFile(url);
  } catch (error) {
    throw new DownloadError({ url: url.href, cause: error });
  }
}
