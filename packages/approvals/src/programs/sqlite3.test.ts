import { describeProgram } from "../../test/describe-program.ts";
import { sqlite3 } from "./sqlite3.ts";

describeProgram(sqlite3, {
  understood: {
    "-json dev.db 'select 1'": ["action project-code", "read dev.db", "write dev.db", "inline-code select 1"],
    "x.db": ["action project-code", "read x.db", "write x.db"],
  },
  notUnderstood: ["", "-cmd .shell x.db", "-init x x.db"],
});
