export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Number of bytes that are needed to detect the type of an image. */
export const IMAGE_HEADER_BYTES = 12;

/** Detects the type of a raster image from its first bytes. SVG is not supported, because it can contain scripts. */
export function imageType(header: Uint8Array): ImageType | undefined {
  const text = Buffer.from(header.subarray(0, IMAGE_HEADER_BYTES)).toString("latin1");
  if (text.startsWith("\u0089PNG\r\n\u001a\n")) return "image/png";
  if (text.startsWith("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF") && text.slice(8) === "WEBP") return "image/webp";
  return undefined;
}
