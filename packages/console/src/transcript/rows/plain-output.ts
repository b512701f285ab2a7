/** Escape sequences of terminals: colours and cursor (CSI), titles and links (OSC), and the short ones. */
// oxlint-disable-next-line no-control-regex -- Escape sequences begin with a control character.
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;

/** Converts a command's output to text, without escape sequences, and with only the last state of overwritten lines. */
export function plainOutput(output: string): string {
  const text = output.includes("\u001B") ? output.replaceAll(ESCAPES, "") : output;
  if (!text.includes("\r")) return text;
  return text.replaceAll(/\r+\n/g, "\n").replaceAll(/^.*\r(?=[^\r\n])/gm, "");
}
