import { declareProgram } from "./declaration/declaration.ts";

export const getconf = declareProgram({ names: ["getconf"], operands: { first: ["data", "read"] } });
