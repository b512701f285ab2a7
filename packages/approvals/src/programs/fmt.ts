import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const fmt = declareProgram({
  names: ["fmt"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-NUMBER": value("number"),
    "-c, --crown-margin": flag,
    "-g, --goal": value("number"),
    "-p, --prefix": value("data"),
    "-s, --split-only": flag,
    "-t, --tagged-paragraph": flag,
    "-u, --uniform-spacing": flag,
    "-w, --width": value("number"),
  },
  operands: { rest: "read" },
});
