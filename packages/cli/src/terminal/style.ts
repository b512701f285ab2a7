import { styleText } from "node:util";

type Paint = (text: string) => string;

/** Colours and emphasis for one stream. Each function returns its text unchanged if colours are off. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly magenta: Paint;
  readonly cyan: Paint;
}

export function createStyle(hasColors: boolean): Style {
  const paint = (format: keyof Style): Paint =>
    hasColors ? (text) => styleText(format, text, { validateStream: false }) : (text) => text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    italic: paint("italic"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    blue: paint("blue"),
    magenta: paint("magenta"),
    cyan: paint("cyan"),
  };
}

interface ColorStream {
  readonly isTTY?: boolean | undefined;
}

/**
 * Whether a stream gets colours. Decided by `--color` and `--no-color`, then NO_COLOR and FORCE_COLOR
 * (https://no-color.org, https://force-color.org), then whether the stream is a terminal.
 */
export function usesColors(stream: ColorStream, env: NodeJS.ProcessEnv, option?: boolean): boolean {
  if (option !== undefined) return option;
  const force = env["FORCE_COLOR"];
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  if (env["NO_COLOR"]) return false;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
