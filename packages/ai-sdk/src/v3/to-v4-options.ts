import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  SharedV4FileData,
} from "@ai-sdk/provider";

type V3Content = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];
type V4Content = Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"][number];

/** Converts a V3 call's options: files get a tag with their kind; everything else is unchanged. */
export function toV4Options(options: LanguageModelV3CallOptions): LanguageModelV4CallOptions {
  return { ...options, prompt: options.prompt.map(toV4Message) };
}

function toV4Message(message: LanguageModelV3Message): LanguageModelV4Message {
  switch (message.role) {
    case "system":
      return message;
    case "user":
      return { ...message, content: message.content.map((part) => tagFile(part)) };
    case "assistant":
      return { ...message, content: message.content.map((part) => tagResult(tagFile(part))) };
    case "tool":
      return { ...message, content: message.content.map((part) => tagResult(part)) };
  }
}

type Tagged<Part> = Part extends { type: "file" } ? Omit<Part, "data"> & { data: SharedV4FileData } : Part;

function tagFile<Part extends { type: string }>(part: Part): Tagged<Part> {
  const { type, data } = part as { type: string; data?: string | Uint8Array | URL };
  return (type === "file" && data !== undefined ? { ...part, data: tag(data) } : part) as Tagged<Part>;
}

/** Tags untagged data. Data that a shim has already tagged is passed on. */
function tag(data: string | Uint8Array | URL | SharedV4FileData): SharedV4FileData {
  if (data instanceof URL) return { type: "url", url: data };
  return typeof data === "string" || data instanceof Uint8Array ? { type: "data", data } : data;
}

type WithV4Output<Part> = Part extends { type: "tool-result" }
  ? Omit<Part, "output"> & { output: LanguageModelV4ToolResultOutput }
  : Part;

function tagResult<Part extends { type: string }>(part: Part): WithV4Output<Part> {
  const { type, output } = part as { type: string; output?: LanguageModelV3ToolResultOutput };
  return (
    type === "tool-result" && output?.type === "content"
      ? { ...part, output: { ...output, value: output.value.map(toV4Content) } }
      : part
  ) as WithV4Output<Part>;
}

function toV4Content(part: V3Content): V4Content {
  switch (part.type) {
    case "file-data":
    case "image-data":
      return { ...part, type: "file", data: { type: "data", data: part.data } };
    case "image-url":
      return URL.canParse(part.url)
        ? { type: "file", mediaType: "image", data: { type: "url", url: new URL(part.url) } }
        : { type: "text", text: part.url };
    case "file-url":
      return URL.canParse(part.url)
        ? {
            type: "file",
            // V3 has no media type for a URL; the file name may have one.
            mediaType: "application/octet-stream",
            filename: new URL(part.url).pathname,
            data: { type: "url", url: new URL(part.url) },
          }
        : { type: "text", text: part.url };
    case "file-id":
    case "image-file-id":
      return {
        type: "file",
        mediaType: part.type === "image-file-id" ? "image" : "application/octet-stream",
        data: {
          type: "reference",
          reference: typeof part.fileId === "string" ? { codex: part.fileId } : part.fileId,
        },
      };
    case "text":
    case "custom":
      return part;
    default:
      // Stored messages may contain older kinds that V3 no longer lists.
      return toV4Media(part);
  }
}

function toV4Media(part: { type: string; data?: string; mediaType?: string }): V4Content {
  return part.type === "media" && part.data !== undefined
    ? { type: "file", mediaType: part.mediaType ?? "image", data: { type: "data", data: part.data } }
    : (part as V4Content);
}
