import { createMemo, createSignal, For, onCleanup, Show } from "solid-js";
import type { ThreadItem } from "../../feed/index.ts";
import { useTranscript } from "../transcript-context.ts";
import { imagesOf, type ItemImage } from "./images-of.ts";

/** Thumbnails of images, which open in a new tab. */
export function ItemImages(props: { readonly item: ThreadItem }) {
  const images = createMemo(() => imagesOf(props.item));
  return <For each={images()}>{(image) => <Thumbnail image={image} />}</For>;
}

function Thumbnail(props: { readonly image: ItemImage }) {
  const { view } = useTranscript();
  const [isBroken, setBroken] = createSignal(false);
  const name = (): string =>
    props.image.type === "data" ? props.image.name : (props.image.path.split("/").at(-1) ?? "");
  const source = createMemo((): string | undefined => {
    if (props.image.type === "file") return fileSource(view.id, props.image.path);
    // The page's policy allows images with blob URLs, but not with data URLs.
    const url = toObjectUrl(props.image);
    if (url !== undefined) onCleanup(() => URL.revokeObjectURL(url));
    return url;
  });
  return (
    <Show when={!isBroken() && source()} fallback={<span class="muted">{name()}</span>}>
      {(url) => (
        <a href={url()} target="_blank" rel="noopener">
          <img class="thumbnail" src={url()} alt={name()} loading="lazy" onError={() => setBroken(true)} />
        </a>
      )}
    </Show>
  );
}

function toObjectUrl({ base64, mediaType }: Extract<ItemImage, { type: "data" }>): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type: mediaType }));
  } catch {
    // The base64 was truncated, because the page does not keep texts of that length.
    return undefined;
  }
}

function fileSource(sessionId: string, path: string): string {
  const base = `/sessions/${encodeURIComponent(sessionId)}`;
  // Uploaded images are named after the hash of their contents.
  const id = /(?:^|\/)(?<id>[0-9a-f]{64})(?:\.\w+)?$/.exec(path)?.groups?.["id"];
  return id === undefined ? `${base}/files/content?path=${encodeURIComponent(path)}` : `${base}/images/${id}`;
}
