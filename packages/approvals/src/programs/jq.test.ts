import { describeProgram } from "../../test/describe-program.ts";
import { jq } from "./jq.ts";

describeProgram(jq, {
  understood: {
    ".": [],
    "-r '.scripts | keys[]' package.json": ["read package.json"],
    "--arg v 1 '.version=$v' package.json": ["read package.json"],
    "--arg v <unknown> .x a.json": ["read a.json"],
    "--slurpfile x x.json . a.json": ["read x.json", "read a.json"],
    ". *.json": ["read *.json"],
    ". <unknown>": ["read <unknown>"],
    "-n --args '$ARGS' a b": ["read a", "read b"],
    "-n '$ARGS' --args a b": [],
    "--indent 2 . -": [],
    "'.import, .x.include, {\"import\": 1}' a": ["read a"],
  },
  notUnderstood: [
    "-f filter.jq a",
    "--from-file filter.jq a",
    "-L lib . a",
    "-rf x",
    "--slurpf x y . a",
    "--arg v",
    "--indent * .",
    "--raw-out . a",
    "-n 'import \"../home/.docker/config\" as $d; $d'",
    '-n \'include "x" {search: "/"}; .\'',
    "-n 'module {};import@text\"x\" as $d; $d'",
    "-n '\"x\" | modulemeta'",
  ],
});
