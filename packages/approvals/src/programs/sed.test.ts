import { describeProgram } from "../../test/describe-program.ts";
import { sed } from "./sed.ts";

describeProgram(sed, {
  understood: {
    "--version": [],
    "-n 1,200p src/main.rs": ["read src/main.rs"],
    "s/a/b/": [],
    "-e /foo/d -e '$a\\' f": ["read f"],
    "-i s/foo/bar/g src/app.ts": ["read src/app.ts", "write src/app.ts"],
    "s/a/b/ -i f": ["read f", "write f"],
    "-i '' -e s/1/2/ package.json": ["read package.json", "write package.json"],
    "-i.bak s/x/y/ a": ["read a", "write a", "write a.bak"],
    "-i s/x/y/ src/*.ts": ["read src/*.ts", "write src/*.ts"],
    "-ni p f": ["read f", "write f"],
  },
  notUnderstood: [
    "",
    "s/a/b/e f",
    "'w out' f",
    "-e p -e 'w out' f",
    "-e 'a\\' -e x -e 'e id' f",
    "'w out' f --version",
    "-f script f",
    "--file=script f",
    "--express=p f",
    "--in-pl p f",
    "--follow-symlinks -i p f",
    "-i/tmp/* p f",
    "-i../x p f",
    "-i '' 'w out' f",
    "<unknown> f",
    "-e <unknown> f",
    "p <unknown>",
    "p *",
    "s/*/x/ f",
  ],
});
