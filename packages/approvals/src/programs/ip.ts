import { type CommandDeclaration, declareProgram, flag } from "./declaration/declaration.ts";

const show: CommandDeclaration = {
  operands: { first: [["show", "list", "ls"], ["dev"], "data"] },
};

/** Only the verbs that print. All others change the machine's network. */
export const ip = declareProgram({
  names: ["ip"],
  syntax: "words",
  options: {
    "-4": flag,
    "-6": flag,
    "-br, -brief": flag,
    "-c, -color": flag,
    "-j, -json": flag,
    "-s, -stats": flag,
  },
  subcommands: {
    address: { ...show, aliases: ["a", "addr"] },
    link: { ...show, aliases: ["l"] },
    neighbour: { ...show, aliases: ["n", "neigh"] },
    route: { ...show, aliases: ["r"] },
  },
});
