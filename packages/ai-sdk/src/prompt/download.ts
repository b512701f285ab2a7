import { DownloadError, fetchUntrustedUrl, readResponseWithSizeLimit } from "@ai-sdk/provider-utils";
import { readFile, stat } from "node:fs/promises";
import { promptLimits } from "./limits.ts";

export interface DownloadContext {
  readonly signal?: AbortSignal | undefined;
  /** Replaces the default, which rejects private networks. A custom `fetch` must do its own checks. */
  readonly fetch?: typeof fetch | undefined;
}

/** Downloads a URL, because Codex rejects URLs and downloads nothing. */
export async function download(url: URL, { signal, fetch }: DownloadContext): Promise<Uint8Array> {
  signal?.throwIfAborted();
  if (url.protocol === "file:") return readLocal(url);
  if (!/^https?:$/.test(url.protocol)) {
    const message = `Expected an http, https, data or file URL, got ${url.protocol}//…`;
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
    // If the caller aborted, reject with its reason instead of a download error.
    signal?.throwIfAborted();
    if (DownloadError.isInstance(error)) throw error;
    throw new DownloadError({ url: url.href, cause: error });
  }
}

/** Checks the file type first, because reading a pipe or a device might never end. */
async function readLocal(url: URL): Promise<Uint8Array> {
  try {
    const found = await stat(url);
    if (!found.isFile() || found.size > promptLimits.fileBytes) {
      throw new RangeError(`Expected a regular file of at most ${promptLimits.fileBytes} bytes.`);
    }
    return await readFile(url);
  } catch (error) {
    throw new DownloadError({ url: url.href, cause: error });
  }
}
