import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { HARMLESS_SSH_OPTION, isHost } from "./ssh-host.ts";
import { isLiteral } from "./declaration/path-words.ts";

/**
 * Runs a command, or a shell, on another machine. `-L`, `-R`, `-D`, `-W` and `-J` connect to others, `-F` reads options, `-A`
 * forwards keys, and most values of `-o` may run programs: not declared.
 */
export const ssh = declareProgram({
  names: ["ssh"],
  syntax: "posix",
  options: {
    "-4": flag,
    "-6": flag,
    "-C": flag,
    "-i": value("read"),
    "-l": value(/\w[\w.-]*/),
    "-n": flag,
    "-o": value(HARMLESS_SSH_OPTION),
    "-p": value("number"),
    "-q": flag,
    "-t": flag,
    "-T": flag,
    "-v": flag,
  },
  operands: { first: ["data"], rest: "data", atLeast: 1 },
  effects: [action("remote-write")],
  examine: examineHost,
});

function examineHost({ operands: [host, first] }: ParsedCall): readonly Effect[] | string {
  if (!isLiteral(host) || !isHost(host.text)) return `"${host?.text ?? "…"}" is not a plain host`;
  // Options are also accepted between the host and the command.
  if (first !== undefined && (!isLiteral(first) || first.text.startsWith("-")))
    return "an option may follow the host";
  return [{ kind: "connect", target: host, sends: true }];
}
