import type { SharedV4FileData } from "@ai-sdk/provider";

/** The location of a file's content. */
export type FileSource =
  | { readonly at: "bytes"; readonly bytes: Uint8Array }
  | { readonly at: "text"; readonly text: string }
  | { readonly at: "url"; readonly url: URL }
  | { readonly at: "nowhere"; readonly why: string };

/** The data of a file part: V4's tagged data, or the untagged data of V3 and of the AI SDK's shims. */
export type FileData = SharedV4FileData | string | Uint8Array | ArrayBuffer | URL;

/** Finds a file part's content. Never throws, because the AI SDK extends its unions in patch releases. */
export function fileSource(data: FileData): FileSource {
  if (data instanceof URL) return fromUrl(data);
  if (data instanceof Uint8Array) return { at: "bytes", bytes: data };
  if (data instanceof ArrayBuffer) return { at: "bytes", bytes: new Uint8Array(data) };
  if (typeof data === "string") return fromString(data);
  switch (data?.type) {
    case "data":
      return fileSource(data.data);
    case "url":
      return fromString(String(data.url));
    case "text":
      return { at: "text", text: data.text };
    case "reference":
      return {
        at: "nowhere",
        why: "Codex stores no files that a reference could name; pass the bytes instead",
      };
    default:
      return { at: "nowhere", why: "its data has an unknown type" };
  }
}

/** Base64 contains no colon, so a URL can't be mistaken for it. */
function fromString(data: string): FileSource {
  return /^[a-z][a-z0-9+.-]*:/i.test(data) && URL.canParse(data)
    ? fromUrl(new URL(data))
    : { at: "bytes", bytes: Buffer.from(data, "base64") };
}

function fromUrl(url: URL): FileSource {
  if (url.protocol !== "data:") return { at: "url", url };
  const [, base64, content = ""] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(url.href) ?? [];
  if (base64 !== undefined) return { at: "bytes", bytes: Buffer.from(content, "base64") };
  try {
    return { at: "bytes", bytes: Buffer.from(decodeURIComponent(content)) };
  } catch {
    return { at: "nowhere", why: "its data URL is malformed" };
  }
}
