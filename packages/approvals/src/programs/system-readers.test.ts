import { describeProgram, type ProgramExamples } from "../../test/describe-program.ts";
import { systemReaders } from "./system-readers.ts";

const examples: Readonly<Record<string, ProgramExamples>> = {
  apt: {
    understood: { "list --installed": [] },
    notUnderstood: ["list -o Dir::Bin::dpkg=x", "install x", "update"],
  },
  bc: { understood: { "-l": [] }, notUnderstood: ["file", "--mathl"] },
  brew: { understood: { list: [] }, notUnderstood: ["install jq", "update"] },
  dpkg: {
    understood: { "-l": [], "-L bash": [] },
    notUnderstood: ["-i x.deb", "", "--admindir=x -l", "-r x"],
  },
  getconf: { understood: { PAGESIZE: [] }, notUnderstood: ["-v x y"] },
  ifconfig: { understood: { "": [], eth0: [] }, notUnderstood: ["eth0 down"] },
  ip: {
    understood: { a: [], "addr show": [], route: [] },
    notUnderstood: ["link set eth0 down", "netns exec x sh", "-b file", "addr add x"],
  },
  journalctl: {
    understood: { "-u app -n 50": [] },
    notUnderstood: ["--vacuum-size=1", "--rotate", "--cursor-file=x", "-D /x"],
  },
  locale: { understood: { "-a": [] }, notUnderstood: ["-x"] },
  man: {
    understood: { "git-log": [], "-k socket": [] },
    notUnderstood: ["-P sh x", "-l ./x", "../x", "--pager=sh x", "-H x"],
  },
  screen: { understood: { "-ls": [] }, notUnderstood: ["", "-dm sh", "-X stuff x"] },
  systemctl: {
    understood: { "status nginx": [] },
    notUnderstood: ["restart nginx", "stop x", "-H host status", "edit x", "--root=x status"],
  },
  tmux: { understood: { ls: [] }, notUnderstood: ["", "new -d sh", "send-keys x", "-f x ls"] },
  tput: { understood: { cols: [] }, notUnderstood: ["-T x cols", "-S", "init"] },
};

for (const program of systemReaders) {
  const example = examples[program.names[0] ?? ""];
  if (example === undefined) throw new Error(`There are no examples for ${program.names[0]}.`);
  describeProgram(program, example);
}
