type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/**
 * Serializes a message for a program that reads its input with Node's `readline`, which also ends lines at
 * two characters that JSON does not escape.
 */
export function jsonLine(message: unknown, replacer?: Replacer): string {
  const text = JSON.stringify(message, replacer);
  return `${text.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`)}\n`;
}
