import { describeProgram } from "../../test/describe-program.ts";
import { yq } from "./yq.ts";

describeProgram(yq, {
  understood: {
    ".version config.yaml": ["read config.yaml", "read .version"],
    "config.yaml": ["read config.yaml"],
    "-i '.a = 1' a.yaml": ["read a.yaml", "write a.yaml", "read .a = 1"],
    "-i a.yaml b.yaml": ["read b.yaml", "write b.yaml", "read a.yaml", "write a.yaml"],
    "-o=json . a.yaml": ["read a.yaml", "read ."],
    "--version": [],
    "eval .a f.yaml": ["read .a", "read f.yaml", "read .a"],
  },
  notUnderstood: [
    "-s .a f.yaml",
    "--split-exp=.a f.yaml",
    "--from-file x f.yaml",
    "'load(\"x\")' f.yaml",
    "'system(\"id\")' f.yaml",
    "x.yq f.yaml",
    "'import \"x\" as $x; $x' f.yaml",
    "eval 'load(\"x\")' f.yaml",
    "--inpl .a f",
    "<unknown> f",
    "-i .a *",
  ],
});
