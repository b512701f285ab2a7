import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";

/** What Codex's YAML reader refuses and `yaml` takes. */
const NOT_PRINTABLE = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** Line breaks of YAML 1.1, which Codex reads. */
const OLD_BREAKS = /[\u0085\u2028\u2029]/g;

const NULLS: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);

/**
 * A YAML value that is read as Codex reads it: the reader says which type it wants, and every scalar is text as it was
 * written. Throws where the value is of another type.
 */
export class YamlNode {
  readonly #node: Node | undefined;
  readonly #targets: ReadonlyMap<Alias, Node>;

  private constructor(node: unknown, targets: ReadonlyMap<Alias, Node>) {
    this.#node = isAlias(node) ? targets.get(node) : isNode(node) ? node : undefined;
    this.#targets = targets;
  }

  static parse(text: string): YamlNode {
    if (NOT_PRINTABLE.test(text)) throw new TypeError("control characters are not allowed");
    // Keys may repeat as long as no reader asks for them, and no scalar is turned into a number or a date.
    const document = parseDocument(text.replace(OLD_BREAKS, "\n"), {
      schema: "failsafe",
      uniqueKeys: false,
      // "silent" would also hide that there is a second document.
      logLevel: "error",
    });
    const [error] = document.errors;
    if (error) throw error;
    return new YamlNode(document.contents, aliasTargets(document.contents));
  }

  /** Nothing at all, which stands for a structure or a list without members. */
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
    throw new TypeError("expected a string");
  }

  bool(): boolean {
    const [, yes] = this.#plain(/^(?:(true|True|TRUE)|false|False|FALSE)$/);
    return yes !== undefined;
  }

  /** A whole number of at most 16 bits. */
  port(): number {
    const [, digits = ""] = this.#plain(/^\+?(0|[1-9][0-9]*|0x[0-9A-Fa-f]+|0o[0-7]+|0b[01]+)$/);
    const port = Number(digits);
    if (port > 0xffff) throw new TypeError("expected a port");
    return port;
  }

  items(): YamlNode[] {
    if (this.#isBlank) return [];
    if (!isSeq(this.#node)) throw new TypeError("expected a list");
    return this.#node.items.map((item) => new YamlNode(item, this.#targets));
  }

  /** The members with these names that are not null; each may be there once, under one of its names. */
  fields<Name extends string>(
    names: Readonly<Record<Name, readonly string[]>>,
  ): Partial<Record<Name, YamlNode>> {
    const found: Partial<Record<Name, YamlNode>> = {};
    if (this.#isBlank) return found;
    if (!isMap(this.#node)) throw new TypeError("expected a mapping");
    for (const { key, value } of this.#node.items) {
      const written = new YamlNode(key, this.#targets).text();
      for (const name in names) {
        if (!names[name].includes(written)) continue;
        if (found[name]) throw new TypeError(`${name} is there twice`);
        found[name] = new YamlNode(value, this.#targets);
      }
    }
    return found;
  }

  #plain(pattern: RegExp): RegExpExecArray {
    const match = this.#isPlain ? pattern.exec(this.text()) : null;
    if (!match) throw new TypeError("expected a value of another type");
    return match;
  }
}

/** What each alias stands for: the last anchor of its name before it. One pass, since `Alias.resolve` takes one for each. */
function aliasTargets(root: Node | null): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(root, {
    Alias: (_, alias) => {
      const target = anchors.get(alias.source);
      if (!target) throw new TypeError(`nothing is named ${alias.source}`);
      targets.set(alias, target);
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}
