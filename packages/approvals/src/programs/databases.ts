import { declareProgram, flag, type ProgramDeclaration, value } from "./declaration/declaration.ts";

/** Clients whose statements can run programs (`\!`, `COPY … TO PROGRAM`): a statement is inline code. */
export const databases: readonly ProgramDeclaration[] = [
  declareProgram({
    names: ["psql"],
    options: {
      "-A, --no-align": flag,
      "-U, --username": value("data"),
      "-X, --no-psqlrc": flag,
      "-c, --command": value("code"),
      "-d, --dbname": value(/^[\w-]+$/),
      "-f, --file": value("script"),
      "-h, --host": value("send-host"),
      "-l, --list": flag,
      "-p, --port": value("number"),
      "-q, --quiet": flag,
      "-t, --tuples-only": flag,
      "-v, --set, --variable": value("data"),
      "-x, --expanded": flag,
      "--csv": flag,
    },
    operands: { first: [/^[\w-]+$/, /^[\w-]+$/] },
    examine: ({ options }) =>
      ["-c", "-f", "-l"].some((name) => options.has(name)) ? [] : [{ kind: "stdin-code", language: "other" }],
  }),
  declareProgram({
    names: ["sqlite3"],
    syntax: "words",
    options: {
      "-batch": flag,
      "-column": flag,
      "-csv": flag,
      "-header": flag,
      "-json": flag,
      "-line": flag,
      "-list": flag,
      "-markdown": flag,
      "-readonly": flag,
      "-table": flag,
    },
    operands: { first: ["read-write", "code"], atLeast: 1 },
    examine: ({ operands }) => (operands.length > 1 ? [] : [{ kind: "stdin-code", language: "other" }]),
  }),
];
