import { describeProgram } from "../../test/describe-program.ts";
import { awk, gawk, mawk, nawk } from "./awk.ts";

for (const program of [awk, gawk, mawk, nawk]) {
  describeProgram(program, {
    understood: {
      "'{print $2}' data.tsv": ["read data.tsv"],
      "-F, 'NR>1 {s+=$3} END {print s}' data.csv": ["read data.csv"],
      "-F: -v n=3 NR==n f": ["read f"],
      "'{print}' *.ts": ["read *.ts"],
      "'length > 80' src/*.ts": ["read src/*.ts"],
    },
    notUnderstood: [
      "",
      "-f prog.awk f",
      "--file=prog.awk f",
      "-i inplace '{print}' f",
      "-l filefuncs '{print}' f",
      "-E prog",
      "-o out '{print}'",
      "-v 'x' '{print}'",
      "'BEGIN{system(\"id\")}'",
      "'{print > \"out\"}' f",
      "'{print}' /inet/tcp/0/host/80",
      "'{print}' /inet6/udp/0/host/80",
      "'{print}' <unknown>",
      "<unknown> f",
      "* f",
      "--assi=x=1 '{print}'",
    ],
  });
}
