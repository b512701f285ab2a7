import { describeProgram } from "../../test/describe-program.ts";
import { strace } from "./strace.ts";

describeProgram(strace, {
  understood: {
    "-f -e trace=openat ls": ["command ls"],
    "-o out.txt -s 200 ls -l": ["command ls -l", "write out.txt", "write out.txt.*"],
  },
  notUnderstood: [
    "",
    "-o '|sh' ls",
    "-o '!sh' ls",
    "-p 5",
    "-e inject=all:retval=0 ls",
    "-e fault=openat ls",
    "-E A=b ls",
    "-o <unknown> ls",
  ],
});
