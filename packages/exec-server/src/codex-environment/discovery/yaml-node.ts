import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";

/** Characters that Codex's YAML reader rejects and `yaml` accepts. */
const NOT_PRINTABLE = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** Line breaks of YAML 1.1, which Codex recognises. */
const OLD_BREAKS = /[\u0085\u2028\u2029]/g;

const NULLS: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);

/**
 * A YAML value that is interpreted as Codex does: the caller says which type it expects, and every scalar is
 * its original text. Throws if the value has another type.
 */
export class YamlNode {
  readonly #node: Node | undefined;
  readonly #targets: ReadonlyMap<Alias, Node>;

  private constructor(node: unknown, targets: ReadonlyMap<Alias, Node>) {
    this.#node = isAlias(node) ? targets.get(node) : isNode(node) ? node : undefined;
    this.#targets = targets;
  }

  static parse(text: string): YamlNode {
    if (NOT_PRINTABLE.test(text)) throw new TypeError("Control characters are not allowed.");
    // Repeated keys are allowed unless they are read, and no scalar is converted to a number or a date.
    const document = parseDocument(text.replace(OLD_BREAKS, "\n"), {
      schema: "failsafe",
      uniqueKeys: false,
      // "silent" would also hide the error for a second document.
      logLevel: "error",
    });
    const [error] = document.errors;
    if (error) throw error;
    return new YamlNode(document.contents, aliasTargets(document.contents));
  }

  /** Whether the value is missing, which is read as a structure or a list without members. */
  get #isBlank(): boolean {
    return this.#node === undefined || (this.#isPlain && this.text() === "");
  }

  get #isPlain(): boolean {
    return isScalar(this.#node) && this.#node.type === "PLAIN";
  }

  get isNull(): boolean {
    return this.#node === undefined || (this.#isPlain && NULLS.has(this.text()));
  }

  text(): string {
    if (isScalar(this.#node) && typeof this.#node.value === "string") return this.#node.value;
    throw new TypeError("Expected a string.");
  }

  bool(): boolean {
    const [, yes] = this.#plain(/^(?:(true|True|TRUE)|false|False|FALSE)$/);
    return yes !== undefined;
  }

  /** Reads an unsigned 16-bit integer. */
  port(): number {
    const [, digits = ""] = this.#plain(/^\+?(0|[1-9][0-9]*|0x[0-9A-Fa-f]+|0o[0-7]+|0b[01]+)$/);
    const port = Number(digits);
    if (port > 0xffff) throw new TypeError("Expected a port.");
    return port;
  }

  items(): YamlNode[] {
    if (this.#isBlank) return [];
    if (!isSeq(this.#node)) throw new TypeError("Expected a list.");
    return this.#node.items.map((item) => new YamlNode(item, this.#targets));
  }

  /** Returns the members with these names. A member may occur only once, under one of its names. */
  fields<Name extends string>(
    names: Readonly<Record<Name, readonly string[]>>,
  ): Partial<Record<Name, YamlNode>> {
    const found: Partial<Record<Name, YamlNode>> = {};
    if (this.#isBlank) return found;
    if (!isMap(this.#node)) throw new TypeError("Expected a mapping.");
    for (const { key, value } of this.#node.items) {
      const written = new YamlNode(key, this.#targets).text();
      for (const name in names) {
        if (!names[name].includes(written)) continue;
        if (found[name]) throw new TypeError(`Duplicate key "${name}".`);
        found[name] = new YamlNode(value, this.#targets);
      }
    }
    return found;
  }

  #plain(pattern: RegExp): RegExpExecArray {
    const match = this.#isPlain ? pattern.exec(this.text()) : null;
    if (!match) throw new TypeError("Expected a value of another type.");
    return match;
  }
}

/**
 * Maps each alias to the last preceding anchor with its name. Takes one pass, whereas `Alias.resolve` takes
 * one per alias.
 */
function aliasTargets(root: Node | null): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(root, {
    Alias: (_, alias) => {
      const target = anchors.get(alias.source);
      if (!target) throw new TypeError(`There is no anchor "${alias.source}".`);
      targets.set(alias, target);
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}
