/** What a message comes to, as it comes: the answer, or only thoughts on the way to it. */
export interface ResponseText {
  /** `"undecided"` is the answer if no other message follows, and a thought if one does. */
  readonly kind: "text" | "reasoning" | "undecided";
  readonly text: string;
}

/** Reads one message of the agent, delta by delta; nothing where it is not yet known what it will be. */
export type ReadMessage = (delta: string) => ResponseText | undefined;

/** Makes the reader of a message. */
export type ReadAnswer = (phase: string | null) => ReadMessage;

/** All messages are text; `phase` in the metadata distinguishes commentary from the answer. */
export const readText: ReadAnswer = () => always("text");

/** The answer is JSON of any kind: commentary is kept out of it. */
export const readAnyJson: ReadAnswer = (phase) => always(phase === "commentary" ? "reasoning" : "text");

/**
 * The answer is a JSON object. Models without phases also say what they are about to do: a message that does not begin as an
 * object is the answer only if it is the last one, as a refusal or fenced JSON is.
 * @param clean Makes the function that a JSON answer passes through, delta by delta.
 */
export function readObject(clean: () => (delta: string) => string): ReadAnswer {
  return (phase) =>
    phase === "commentary" ? always("reasoning") : objectOr(phase === null ? "undecided" : "text", clean());
}

function always(kind: ResponseText["kind"]): ReadMessage {
  return (text) => ({ kind, text });
}

function objectOr(otherwise: ResponseText["kind"], clean: (delta: string) => string): ReadMessage {
  let isObject: boolean | undefined;
  let blank = "";
  return (delta) => {
    const text = blank + delta;
    blank = "";
    isObject ??= beginsAsObject(text);
    if (isObject === undefined) {
      blank = text;
      return undefined;
    }
    return isObject ? { kind: "text", text: clean(text) } : { kind: otherwise, text };
  };
}

function beginsAsObject(text: string): boolean | undefined {
  const first = text.trimStart()[0];
  return first === undefined ? undefined : first === "{";
}
