/** A part of the input. */
export type UserInput = { type: "text"; text: string } | { type: "local_image"; path: string };

/** The input of a turn: text, or texts and images. */
export type Input = string | UserInput[];

export interface Prompt {
  readonly text: string;
  readonly images: readonly string[];
}

/** Joins the texts with empty lines between them, and collects the images in order. */
export function toPrompt(input: Input): Prompt {
  const parts = typeof input === "string" ? [{ type: "text", text: input } as const] : input;
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  return {
    // The original writes the text to a pipe as UTF-8, which drops a byte order mark and replaces lone surrogates.
    text: text.replace(/^\uFEFF/, "").toWellFormed(),
    images: parts.flatMap((part) => (part.type === "local_image" ? [part.path] : [])),
  };
}
