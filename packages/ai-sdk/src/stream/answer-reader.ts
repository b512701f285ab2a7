/** What a message comes to, as it comes: the answer, or only thoughts on the way to it. */
export interface Said {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

/** Reads one message of the agent, delta by delta; nothing where it is not yet known what it will be. */
export type ReadMessage = (delta: string) => Said | undefined;

/** Makes the reader of a message. */
export type ReadAnswer = (phase: string | null) => ReadMessage;

/** Everything that is said is text; `phase` in the metadata tells commentary from the answer. */
export const readText: ReadAnswer = () => always("text");

/** The answer is JSON of any kind: commentary is kept out of it. */
export const readAnyJson: ReadAnswer = (phase) => always(phase === "commentary" ? "reasoning" : "text");

/**
 * The answer is a JSON object. Models without phases also say what they are about to do: only a message that begins as an
 * object can be the answer.
 * @param clean Makes the function that an answer passes through, delta by delta.
 */
export function readObject(clean: () => (delta: string) => string): ReadAnswer {
  return (phase) => (phase === "commentary" ? always("reasoning") : objectOrThought(clean()));
}

function always(kind: Said["kind"]): ReadMessage {
  return (text) => ({ kind, text });
}

function objectOrThought(clean: (delta: string) => string): ReadMessage {
  let kind: Said["kind"] | undefined;
  let blank = "";
  return (delta) => {
    const text = blank + delta;
    blank = "";
    kind ??= kindOf(text);
    if (kind === undefined) {
      blank = text;
      return undefined;
    }
    return { kind, text: kind === "text" ? clean(text) : text };
  };
}

function kindOf(text: string): Said["kind"] | undefined {
  const first = text.trimStart()[0];
  if (first === undefined) return undefined;
  return first === "{" ? "text" : "reasoning";
}
