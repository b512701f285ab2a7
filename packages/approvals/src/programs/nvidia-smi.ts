import { declareProgram, flag } from "./declaration/declaration.ts";

export const nvidiaSmi = declareProgram({
  names: ["nvidia-smi"],
  options: { "-L, --list-gpus": flag, "-q, --query": flag },
});
