const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};

/** A path of a heading: without its prefix, and unquoted if Git has quoted it (`"b/\303\244.txt"`). */
export function readGitPath(text: string, prefix: "a/" | "b/" | ""): string {
  // Some programs append a tab and the time.
  const plain = text.startsWith('"') ? unquote(text) : (text.split("\t", 1)[0] ?? "");
  return plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}

function unquote(text: string): string {
  const end = text.lastIndexOf('"');
  const bytes: number[] = [];
  const body = text.slice(1, end > 0 ? end : undefined);
  for (const [whole, escape] of body.matchAll(/\\([0-7]{3}|.)|[^\\]+/gsu)) {
    if (escape === undefined) bytes.push(...new TextEncoder().encode(whole));
    else if (escape.length === 3) bytes.push(Number.parseInt(escape, 8));
    else bytes.push(ESCAPES[escape] ?? escape.charCodeAt(0));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
