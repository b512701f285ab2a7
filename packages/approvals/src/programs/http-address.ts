/**
 * A plain http or https address, with or without its scheme. Other schemes read files or speak other protocols, and
 * brackets and braces stand for several addresses.
 */
export function isHttpAddress(text: string): boolean {
  if (/[\s{}\\^`"<>]|\p{Cc}/u.test(text)) return false;
  const rest = text.replace(/^https?:\/\//i, "");
  if (/^[\w+.-]*:\/\//.test(rest)) return false;
  // An IPv6 address is the only use of brackets.
  return /^(?:\[[0-9a-fA-F:.]+\](?::\d+)?|[^[\]/?#-][^[\]/?#]*)(?:[/?#][^[\]]*)?$/.test(rest);
}

/** The file name that `curl -O` and `wget` choose: the last part of the path. */
export function nameOfDownload(text: string): string {
  const path = text.replace(/^https?:\/\//i, "").replace(/[?#].*$/s, "");
  return path.includes("/") ? path.slice(path.lastIndexOf("/") + 1) : "";
}
