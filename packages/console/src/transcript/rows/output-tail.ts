import { plainOutput } from "./plain-output.ts";
import { tailLines } from "./tail-lines.ts";

/** Characters at the end of an output in which its last lines are searched. */
const LONGEST_TAIL = 16_384;

/**
 * The last lines of a command's output, and the number of lines before them. Called in each frame in which the output grows, so
 * only its end is converted.
 */
export function outputTail(
  output: string,
  count: number,
): { readonly text: string; readonly hidden: number } {
  const start = output.length > LONGEST_TAIL ? output.indexOf("\n", output.length - LONGEST_TAIL) + 1 : 0;
  const tail = tailLines(plainOutput(output.slice(start)), count);
  let before = 0;
  for (let at = output.indexOf("\n"); at !== -1 && at < start; at = output.indexOf("\n", at + 1)) before += 1;
  return { text: tail.text, hidden: before + tail.hidden };
}
