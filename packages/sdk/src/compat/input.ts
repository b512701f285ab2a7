/** A part of what the agent is told. */
export type UserInput = { type: "text"; text: string } | { type: "local_image"; path: string };

/** What the agent is told: a text, or texts and pictures. */
export type Input = string | UserInput[];

export interface Prompt {
  readonly text: string;
  readonly images: readonly string[];
}

/** Texts become one, with an empty line between them; pictures are kept apart, in their order. */
export function toPrompt(input: Input): Prompt {
  const parts = typeof input === "string" ? [{ type: "text", text: input } as const] : input;
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  return {
    // The old package wrote the text to a pipe, as UTF-8: a byte order mark was dropped, half a character replaced.
    text: text.replace(/^\uFEFF/, "").toWellFormed(),
    images: parts.flatMap((part) => (part.type === "local_image" ? [part.path] : [])),
  };
}
