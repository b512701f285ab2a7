import { messageOf } from "@codexkit/rpc/async";
import { parseArgs } from "node:util";

import type { Format } from "./report.ts";

export const USAGE = `Usage: npm run bench -- NAME [NAME…] [options]

Runs benchmarks and prints a table of medians. Without a name, lists the benchmarks.

  --check      exit 1 and name each bar that is missed
  --json       print the results, with every sample, as one JSON document
  --markdown   print the tables as Markdown
  --rounds N   record N rounds instead of the benchmark's own number
  --only TEXT  run only the rows whose name contains TEXT
  --list       list the benchmarks
  --help       print this
`;

/** An invalid command line: exit code 2, no stack trace. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface RunRequest {
  readonly command: "run";
  readonly names: readonly string[];
  readonly format: Format;
  readonly check: boolean;
  readonly rounds: number | undefined;
  readonly only: string | undefined;
}

export type Request = ({ readonly command: "help" } | { readonly command: "list" } | RunRequest) & {
  /** The folder of the benchmarks. Default: `benches/`. Undocumented, for the runner's own tests. */
  readonly dir?: string | undefined;
};

export function parseCommandLine(args: readonly string[]): Request {
  const { values, positionals } = parse(args);
  const { dir } = values;
  if (values.help) return { command: "help" };
  if (values.list || positionals.length === 0) return { command: "list", dir };
  if (values.json && values.markdown) throw new UsageError("--json and --markdown exclude each other");
  return {
    command: "run",
    names: [...new Set(positionals)],
    format: values.json ? "json" : values.markdown ? "markdown" : "text",
    check: values.check,
    rounds: values.rounds === undefined ? undefined : parseRounds(values.rounds),
    only: values.only,
    dir,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        check: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        markdown: { type: "boolean", default: false },
        rounds: { type: "string" },
        only: { type: "string" },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        dir: { type: "string" },
      },
    });
  } catch (cause) {
    throw new UsageError(messageOf(cause), { cause });
  }
}

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isSafeInteger(rounds) && rounds >= 1) return rounds;
  throw new UsageError(`--rounds takes a whole number from 1 on, not "${text}"`);
}
