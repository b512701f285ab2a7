import type {
  LanguageModelV3File,
  LanguageModelV3Source,
  LanguageModelV4File,
  LanguageModelV4ReasoningFile,
} from "@ai-sdk/provider";

/** Converts a generated file to V3. A file that is a URL becomes a source, because V3 files must have content. */
export function toV3File(
  file: LanguageModelV4File | LanguageModelV4ReasoningFile,
): LanguageModelV3File | LanguageModelV3Source {
  const { data, mediaType } = file;
  const metadata = file.providerMetadata === undefined ? {} : { providerMetadata: file.providerMetadata };
  if (data.type === "data") return { type: "file", mediaType, data: data.data, ...metadata };
  const url = String(data.url);
  const [, base64] = /^data:[^,]*;base64,(.*)$/is.exec(url) ?? [];
  return base64 === undefined
    ? { type: "source", sourceType: "url", id: url, url, ...metadata }
    : { type: "file", mediaType, data: base64, ...metadata };
}
