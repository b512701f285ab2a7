import { isCancel, select } from "@clack/prompts";
import type { v2 } from "codexkit";
import type { CliContext } from "../context.ts";
import { EXIT, SilentExit } from "../errors/cli-error.ts";
import { formatAge } from "../render/format-values.ts";
import { sanitizeText } from "../terminal/sanitize.ts";
import { truncateText } from "../terminal/width.ts";

/** Columns that the list itself uses, in addition to the text of an entry. */
const FRAME_COLUMNS = 24;

export async function pickThread(
  threads: readonly v2.Thread[],
  { stderr, stdin, signal }: CliContext,
): Promise<string> {
  const columns = Math.max(20, (stderr.columns || 80) - FRAME_COLUMNS);
  const picked = await select({
    message: "Which thread do you want to continue?",
    options: threads.map(({ id, name, preview, updatedAt }) => ({
      value: id,
      label: truncateText(sanitizeText(name ?? preview).replaceAll("\n", " ") || id, columns),
      hint: formatAge(Date.now() - updatedAt * 1000),
    })),
    input: stdin,
    output: stderr,
    signal,
  });
  if (isCancel(picked)) throw new SilentExit(EXIT.interrupted);
  return picked;
}
