import { declareProgram, flag, type ProgramDeclaration, value } from "./declaration/declaration.ts";

/** Programs that look whether a host answers. */
export const networkTools: readonly ProgramDeclaration[] = [
  declareProgram({
    names: ["dig", "host", "nslookup"],
    operands: { first: ["host", ["A", "AAAA", "CNAME", "MX", "NS", "TXT"]], atLeast: 1 },
  }),
  declareProgram({
    names: ["nc"],
    // Without -z it would pass data on.
    options: { "-4": flag, "-6": flag, "-v": flag, "-w": value("number"), "-z": flag },
    operands: { first: ["host", "number"], atLeast: 2 },
    examine: ({ options }) => (options.has("-z") ? [] : "sends and receives data"),
  }),
  declareProgram({
    names: ["ping"],
    options: {
      "-4": flag,
      "-6": flag,
      "-W": value("number"),
      "-c": value("number"),
      "-i": value("number"),
      "-q": flag,
    },
    operands: { first: ["host"], atLeast: 1 },
  }),
];
