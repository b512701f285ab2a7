import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { developerTool } from "./declaration/developer-tool.ts";

/** Only queries to the configured name server: `@server`, `-f` and `-x` are not declared. */
export const dig = declareProgram({
  names: ["dig"],
  syntax: "words",
  options: { "-4": flag, "-6": flag, "-t": value("data") },
  operands: { rest: "data", atLeast: 1 },
  examine: ({ operands }) => {
    const names = operands.filter(
      ({ text }) => text === undefined || !/^\+\w+(?:=\d+)?$|^[A-Z]+$/.test(text),
    );
    if (names.some(({ text }) => text === undefined || text.startsWith("@")))
      return "the name server is not known";
    return names.map((target) => ({ kind: "connect", target, sends: false }));
  },
});

/** Only `-z`, which opens a connection and sends nothing. */
export const nc = declareProgram({
  names: ["nc", "ncat", "netcat"],
  options: { "-4": flag, "-6": flag, "-n": flag, "-v": flag, "-w": value("number"), "-z": flag },
  operands: { first: ["host", "number"], atLeast: 2 },
  examine: ({ options }) => (options.has("-z") ? [] : "it sends its input"),
});

/** Only commands that print the state of a server. Without `-h`, that is the server on this machine. */
export const redisCli = declareProgram({
  names: ["redis-cli"],
  syntax: "posix",
  options: { ...HELP, "-h": value("data"), "-n": value("number"), "-p": value("number") },
  operands: { first: [["PING", "dbsize", "info", "ping", "time"]], rest: "data", atLeast: 1 },
  examine: ({ options }) => [
    { kind: "connect", target: options.get("-h")?.at(-1) ?? { text: "localhost" }, sends: false },
  ],
});

/** `build` prints, but runs the project's plug-ins and fetches the bases that the project names. */
export const kustomize = developerTool({
  names: ["kustomize"],
  verbs: { build: ["project-code", "remote-read"], version: [] },
  rejects: ["--enable-exec", "--enable-alpha-plugins", "--enable-helm", "--helm-command", "--network"],
});
