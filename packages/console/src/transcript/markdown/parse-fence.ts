export interface Fence {
  /** First word of the info string, in lower case. */
  readonly language: string;
  readonly code: string;
}

/** Splits the source of a code block into its language and its code. The closing fence may be missing. */
export function parseFence(raw: string): Fence {
  const open = /^ {0,3}(?<marker>`{3,}|~{3,})(?<info>[^\n]*)(?:\n|$)/.exec(raw);
  if (!open?.groups) {
    // This is an indented block.
    return { language: "", code: raw.replaceAll(/^(?: {4}| {0,3}\t)/gm, "").trimEnd() };
  }
  const { marker = "```", info = "" } = open.groups;
  const body = raw.slice(open[0].length);
  const close = new RegExp(`(?:^|\\n) {0,3}${marker[0]}{${marker.length},}\\s*$`);
  const language = /^\s*(?<word>[\w+#.-]*)/.exec(info)?.groups?.["word"] ?? "";
  return { language: language.toLowerCase(), code: body.replace(close, "").replace(/\n$/, "") };
}
