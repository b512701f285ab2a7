import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const uname = declareProgram({
  names: ["uname"],
  options: {
    ...HELP,
    "-a, --all": flag,
    "-i, --hardware-platform": flag,
    "-m, --machine": flag,
    "-n, --nodename": flag,
    "-o, --operating-system": flag,
    "-p, --processor": flag,
    "-r, --kernel-release": flag,
    "-s, --kernel-name": flag,
    "-v, --kernel-version": flag,
  },
});
