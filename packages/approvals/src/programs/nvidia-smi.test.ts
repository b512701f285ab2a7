import { describeProgram } from "../../test/describe-program.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";

describeProgram(nvidiaSmi, { understood: { "": [], "-L": [] }, notUnderstood: ["-pm 1", "-f out", "-r"] });
