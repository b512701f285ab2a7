import { describeProgram, type ProgramExamples } from "../../test/describe-program.ts";
import { systemReaders } from "./system-readers.ts";

const examples: Readonly<Record<string, ProgramExamples>> = {
  apt: {
    understood: { "list --installed": [] },
    notUnderstood: ["list -o Dir::Bin::dpkg=x", "install x", "update"],
  },
  dpkg: {
    understood: { "-l": [], "-L bash": [] },
    notUnderstood: ["-i x.deb", "", "--admindir=x -l", "-r x"],
  },
  ifconfig: { understood: { "": [], eth0: [] }, notUnderstood: ["eth0 down"] },
  systemctl: {
    understood: { "status nginx": [] },
    notUnderstood: ["restart nginx", "stop x", "-H host status", "edit x", "show x", "--root=x status"],
  },
  tmux: { understood: { ls: [] }, notUnderstood: ["", "new -d sh", "send-keys x", "-f x ls"] },
};

for (const program of systemReaders) {
  const example = examples[program.names[0] ?? ""];
  if (example === undefined) throw new Error(`There are no examples for ${program.names[0]}.`);
  describeProgram(program, example);
}
