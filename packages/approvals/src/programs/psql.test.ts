import { describeProgram } from "../../test/describe-program.ts";
import { psql } from "./psql.ts";

describeProgram(psql, {
  understood: {
    "-h localhost -c 'select 1' app": ["action project-code", "send localhost", "inline-code select 1"],
    "-f schema.sql": ["action project-code", "execute schema.sql", "send undefined"],
  },
  notUnderstood: ["postgres://evil.example/x", "-d host=evil.example", "-o out app", "-L log app", "a b c"],
});
