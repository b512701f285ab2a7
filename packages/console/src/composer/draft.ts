import { type KeyValueStorage, type StoredValue, storedValue } from "../settings/local-store.ts";

/** An image that was uploaded for the message. */
export interface AttachedImage {
  readonly imageId: string;
  readonly name: string;
}

/** An unsent message. */
export interface Draft {
  readonly text: string;
  readonly images: readonly AttachedImage[];
}

export const EMPTY_DRAFT: Draft = { text: "", images: [] };

/** The draft of a session, kept over a reload. Other people who use the browser don't see it. */
export function draftOf(owner: string, sessionId: string, storage?: KeyValueStorage): StoredValue<Draft> {
  const stored = storedValue(`draft.${owner}.${sessionId}`, parseDraft, storage);
  return {
    read: () => stored.read(),
    write: (draft) => stored.write(draft === undefined || isEmpty(draft) ? undefined : draft),
  };
}

export function isEmpty({ text, images }: Draft): boolean {
  return text.trim() === "" && images.length === 0;
}

function parseDraft(value: unknown): Draft {
  if (typeof value !== "object" || value === null) return EMPTY_DRAFT;
  const { text, images } = value as Partial<Record<keyof Draft, unknown>>;
  return {
    text: typeof text === "string" ? text : "",
    images: Array.isArray(images) ? images.filter(isAttachedImage) : [],
  };
}

export function isAttachedImage(value: unknown): value is AttachedImage {
  const image = value as Partial<AttachedImage> | null;
  return typeof image?.imageId === "string" && typeof image.name === "string";
}
