/** Classified text of a message: the answer, or reasoning before it. */
export interface ResponseText {
  /** `"undecided"` text is the answer if no other message follows, and reasoning otherwise. */
  readonly kind: "text" | "reasoning" | "undecided";
  readonly text: string;
}

/** Reads one message of the agent, delta by delta. Returns undefined until the kind of the text is known. */
export type ReadMessage = (delta: string) => ResponseText | undefined;

/** Creates the reader for a message. */
export type ReadAnswer = (phase: string | null) => ReadMessage;

/** Treats all messages as text; `phase` in the metadata distinguishes commentary from the answer. */
export const readText: ReadAnswer = () => always("text");

/** Reads an answer that is any JSON value. Commentary is not part of it. */
export const readAnyJson: ReadAnswer = (phase) => always(phase === "commentary" ? "reasoning" : "text");

/**
 * Reads an answer that is a JSON object. Models without phases also write commentary, so a message that does not start like an
 * object is the answer only if it is the last one, such as a refusal or fenced JSON.
 * @param clean Creates the filter for the deltas of a JSON answer.
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
