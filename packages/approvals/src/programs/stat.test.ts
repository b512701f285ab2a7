import { describeProgram } from "../../test/describe-program.ts";
import { stat } from "./stat.ts";

describeProgram(stat, {
  understood: { "-c %s a": ["read a"], "--format=%n *.ts": ["read *.ts"] },
  notUnderstood: ["--form=%s a", "-x a", ""],
});
