/** Stands for text that only running the command would tell. It can't occur in a real argument. */
export const UNKNOWN = "\u0000";

/** One argument as far as it can be known without running anything. */
export interface Value {
  /** The text, with `UNKNOWN` where something unknowable is put in. */
  readonly text: string;
  /** Written out as it is: no variable, substitution or glob decides what it says. */
  readonly plain: boolean;
  /** Holds an unquoted `*`, `?`, `[…]` or an extended glob. */
  readonly glob: boolean;
  /** An unquoted unknown: it may turn into no argument or into many. */
  readonly splits: boolean;
}

export function plainValue(text: string): Value {
  return { text, plain: true, glob: false, splits: false };
}

/** A value that was computed: never plain, even when its text is known. */
export function derivedValue(text: string, splits = false): Value {
  return { text, plain: false, glob: false, splits };
}

export const UNKNOWN_VALUE: Value = derivedValue(UNKNOWN, true);

export function isUnknown(value: Value): boolean {
  return value.text.includes(UNKNOWN);
}

const SAFE = /^[\w@%+=:,./-]+$/;

/** An argument as a person may write it in a shell. Two different lists of arguments never read the same. */
export function quote(text: string): string {
  if (SAFE.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`).replaceAll(UNKNOWN, "…")}'`;
}

/** The canonical text of a command: what regular expressions in rules see. */
export function commandText(argv: readonly Value[]): string {
  return argv.map(({ text }) => quote(text)).join(" ");
}
