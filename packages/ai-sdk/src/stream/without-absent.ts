import type { JSONObject } from "@ai-sdk/provider";
import { SchemaView } from "./schema-view.ts";

/**
 * Removes absent properties that are written as null from streamed JSON. Strict mode has no optional properties, so the model
 * writes null instead, which the caller's own schema would reject. Text that is not JSON is passed on unchanged.
 */
export function withoutAbsent(schema: JSONObject): (delta: string) => string {
  const reader = new Reader(SchemaView.of(schema));
  return (delta) => {
    let out = "";
    for (const char of delta) out += reader.read(char);
    return out;
  };
}

interface Frame {
  readonly kind: "object" | "array";
  readonly view: SchemaView;
  /** Whether a member has been written, so that the next one needs a comma. */
  hasMember: boolean;
  /** The property that is being read. */
  key: string;
}

/** The expected input. `text` is a number, true, false or null. */
type Expected = "value" | "key" | "colon" | "next" | "string" | "keyString" | "text" | "anything";

const BLANK = /\s/;

class Reader {
  readonly #root: SchemaView;
  readonly #frames: Frame[] = [];
  #expected: Expected = "value";
  /** The start of a member, held until it is known whether the member is kept. */
  #held = "";
  #word = "";
  #isEscaped = false;

  constructor(root: SchemaView) {
    this.#root = root;
  }

  /** Reads a character and returns the output that it completes. */
  read(char: string): string {
    switch (this.#expected) {
      case "anything":
        return char;
      case "string":
        if (this.#endsString(char)) this.#expected = "next";
        return char;
      case "keyString":
        return this.#readKey(char);
      case "text":
        return this.#readText(char);
      default:
        return BLANK.test(char) ? this.#hold(char) : this.#readMark(char);
    }
  }

  get #frame(): Frame | undefined {
    return this.#frames.at(-1);
  }

  #readMark(char: string): string {
    switch (this.#expected) {
      case "key":
        if (char === "}") return this.#close(char);
        if (char !== '"') return this.#giveUp(char);
        this.#expected = "keyString";
        this.#word = "";
        return this.#hold(char);
      case "colon":
        if (char !== ":") return this.#giveUp(char);
        this.#expected = "value";
        return this.#hold(char);
      case "next":
        if (char === ",") return this.#nextMember();
        return char === "}" || char === "]" ? this.#close(char) : this.#giveUp(char);
      default:
        return this.#beginValue(char);
    }
  }

  #beginValue(char: string): string {
    const frame = this.#frame;
    if (char === "]" && frame?.kind === "array" && !frame.hasMember) return this.#close(char);
    if (char === "n" && frame?.kind === "object" && frame.view.isAbsentWhenNull(frame.key)) {
      this.#expected = "text";
      this.#word = char;
      return this.#hold(char);
    }
    const written = this.#flush() + char;
    if (char === "{" || char === "[") this.#open(char === "{" ? "object" : "array");
    else {
      this.#expected = char === '"' ? "string" : "text";
      this.#word = "";
    }
    return written;
  }

  #readKey(char: string): string {
    if (this.#endsString(char)) {
      const frame = this.#frame;
      if (frame) frame.key = unescape(this.#word);
      this.#expected = "colon";
    } else this.#word += char;
    return this.#hold(char);
  }

  #readText(char: string): string {
    const isEnd = BLANK.test(char) || char === "," || char === "}" || char === "]";
    // Only a possible null is held back. Any other value that starts with n is kept.
    if (!isEnd) {
      if (this.#word === "") return char;
      this.#word += char;
      if ("null".startsWith(this.#word)) return this.#hold(char);
      this.#word = "";
      return this.#flush() + char;
    }
    if (this.#word === "null") this.#held = "";
    this.#word = "";
    this.#expected = "next";
    return this.read(char);
  }

  #open(kind: Frame["kind"]): void {
    const above = this.#frame;
    const view =
      above === undefined
        ? this.#root
        : above.kind === "array"
          ? above.view.items
          : above.view.property(above.key);
    this.#frames.push({ kind, view, hasMember: false, key: "" });
    this.#expected = kind === "object" ? "key" : "value";
  }

  #nextMember(): string {
    const frame = this.#frame;
    if (frame === undefined) return this.#giveUp(",");
    this.#expected = frame.kind === "object" ? "key" : "value";
    // Releases only the whitespace before the comma. The comma is written with the next member.
    return this.#release();
  }

  #close(char: string): string {
    this.#frames.pop();
    this.#expected = this.#frames.length === 0 ? "anything" : "next";
    return this.#release() + char;
  }

  /** Writes the held start of the member. */
  #flush(): string {
    const frame = this.#frame;
    const comma = frame?.hasMember ? "," : "";
    if (frame) frame.hasMember = true;
    return comma + this.#release();
  }

  #hold(char: string): string {
    this.#held += char;
    return "";
  }

  #release(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  #giveUp(char: string): string {
    this.#expected = "anything";
    return this.#release() + char;
  }

  #endsString(char: string): boolean {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return false;
    }
    this.#isEscaped = char === "\\";
    return char === '"';
  }
}

function unescape(key: string): string {
  try {
    return JSON.parse(`"${key}"`) as string;
  } catch {
    return key;
  }
}
