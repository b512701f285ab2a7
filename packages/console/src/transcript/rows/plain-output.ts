/** Escape sequences of terminals: colours and cursor (CSI), titles and links (OSC), and the short ones. */
// oxlint-disable-next-line no-control-regex -- They begin with one.
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;

/** The output of a command as text: without escape sequences, and of lines that were overwritten only the last state. */
export function plainOutput(output: string): string {
  const text = output.includes("\u001B") ? output.replaceAll(ESCAPES, "") : output;
  if (!text.includes("\r")) return text;
  return text.replaceAll(/\r+\n/g, "\n").replaceAll(/^.*\r(?=[^\r\n])/gm, "");
}
