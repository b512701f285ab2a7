/**
 * A plain http or https address, with or without its scheme. Other schemes read files or use other protocols, and brackets and
 * braces expand to several addresses.
 */
export function isHttpAddress(text: string): boolean {
  if (/[\s{}\\^`"<>]|\p{Cc}/u.test(text)) return false;
  const rest = text.replace(/^https?:\/\//i, "");
  if (/^[\w+.-]*:\/\//.test(rest)) return false;
  // An IPv6 address is the only use of brackets.
  return /^(?:\[[0-9a-fA-F:.]+\](?::\d+)?|[^[\]/?#-][^[\]/?#]*)(?:[/?#][^[\]]*)?$/.test(rest);
}

/**
 * The file name that `curl -O` and `wget` choose: the last part of the path, or nothing if there is none. Undefined if programs
 * disagree: some decode `%2e`, and some use the folder before a trailing slash, or drop `/.`.
 */
export function nameOfDownload(text: string): string | undefined {
  const path = text.replace(/^https?:\/\//i, "").replace(/[?#].*$/s, "");
  if (!path.includes("/")) return "";
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isClear = !/%|^\.\.?$/.test(name) && (name !== "" || path.indexOf("/") === path.length - 1);
  return isClear ? name : undefined;
}
