import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";

/**
 * Its scripts run programs (`\\!`), so all of them count as project code. Without `-h`, the environment may select any server.
 */
export const psql = declareProgram({
  names: ["psql"],
  options: {
    "-A, --no-align": flag,
    "-U, --username": value("data"),
    "-c, --command": value("code"),
    "-d, --dbname": value(/* A connection string may name another host. */ "data"),
    "-f, --file": value("script"),
    "-h, --host": value("send-host"),
    "-l, --list": flag,
    "-p, --port": value("number"),
    "-q, --quiet": flag,
    "-t, --tuples-only": flag,
  },
  operands: { first: ["data", "data"] },
  effects: [action("project-code")],
  examine: examineDatabase,
});

function examineDatabase({ operands, options }: ParsedCall): readonly Effect[] | string {
  const names = [...(options.get("-d") ?? []), ...operands];
  if (!names.every(({ text }) => text !== undefined && /^\w+$/.test(text)))
    return "a connection string may lead to another host";
  return options.has("-h") ? [] : [{ kind: "connect", target: { text: undefined }, sends: true }];
}
