import type { ThreadItem } from "../../feed/index.ts";

/** An image of an item: a file of the session, or its bytes. */
export type ItemImage =
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "data"; readonly mediaType: string; readonly base64: string; readonly name: string };

/** Only these are opened in a tab of their own: an SVG may contain scripts, which would run in the page's origin. */
const RASTER = /^image\/(?:avif|bmp|gif|jpeg|png|webp)$/;

/** Returns the images that an item contains, as opposed to those that it only mentions. */
export function imagesOf(item: ThreadItem): readonly ItemImage[] {
  switch (item.type) {
    case "userMessage":
      return item.content.flatMap((part): ItemImage[] => {
        if (part.type === "localImage") return [{ type: "file", path: part.path }];
        if (part.type !== "image" || !("url" in part)) return [];
        return parseDataUrl(part.url, "Image");
      });
    case "imageView":
      return [{ type: "file", path: item.path }];
    case "imageGeneration":
      return item.savedPath === undefined ? [] : [{ type: "file", path: item.savedPath }];
    case "mcpToolCall":
      return (item.result?.content ?? []).flatMap((part): ItemImage[] => {
        const { type, data, mimeType } = (part ?? {}) as Readonly<Record<string, unknown>>;
        if (type !== "image" || typeof data !== "string" || typeof mimeType !== "string") return [];
        const name = `Image of ${item.tool}`;
        return RASTER.test(mimeType) ? [{ type: "data", mediaType: mimeType, base64: data, name }] : [];
      });
    default:
      return [];
  }
}

function parseDataUrl(url: string, name: string): ItemImage[] {
  const { mediaType, base64 } =
    /^data:(?<mediaType>[\w/.+-]+);base64,(?<base64>.*)$/s.exec(url)?.groups ?? {};
  if (mediaType === undefined || base64 === undefined || !RASTER.test(mediaType)) return [];
  return [{ type: "data", mediaType, base64, name }];
}
