import { declareProgram, flag } from "./declaration/declaration.ts";

/** An operand, `-F` and `-b` set the name: not declared. */
export const hostname = declareProgram({
  names: ["hostname"],
  options: {
    "-a, --alias": flag,
    "-d, --domain": flag,
    "-f, --fqdn, --long": flag,
    "-i, --ip-address": flag,
    "-I, --all-ip-addresses": flag,
    "-s, --short": flag,
  },
});
