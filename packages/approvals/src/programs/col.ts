import { declareProgram, flag } from "./declaration/declaration.ts";

export const col = declareProgram({ names: ["col"], options: { "-b": flag, "-f": flag, "-x": flag } });
