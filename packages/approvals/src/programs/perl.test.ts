import { describeProgram } from "../../test/describe-program.ts";
import { perl } from "./perl.ts";

describeProgram(perl, {
  understood: {
    "-pi -e s/foo/bar/ src/app.txt": ["read src/app.txt", "write src/app.txt"],
    "-pe s/a/b/g in.txt": ["read in.txt"],
    "-i.bak -pe s/a/b/ f": ["read f", "write f", "write f.bak"],
    "-pe s/a/b/ 'id |'": ["inline-code s/a/b/", "read id |"],
    "-pe s/a/b/ src/*": ["inline-code s/a/b/", "read src/*"],
    "-0777 -pe s/a/b/ f": ["read f"],
    "-ne 'print if /x/' f": ["inline-code print if /x/", "read f"],
    "-e 'system(1)'": ["inline-code system(1)"],
    "-MList::Util=sum -e 1": ["inline-code List::Util=sum", "inline-code 1"],
    "-lane 'print' f": ["inline-code print", "read f"],
    "-F, -e 1": ["inline-code ,", "inline-code 1"],
    "script.pl a b": ["execute script.pl"],
    "": ["stdin-code other"],
    "-": ["stdin-code other"],
    "-v": [],
  },
  notUnderstood: [
    "-I. -e 1",
    "-d x.pl",
    "-e <unknown>",
    "-pi -e s/a/b/ <unknown>",
    "<unknown>",
    "-pi* -e s/a/b/ f",
    "-pi../x -e s/a/b/ f",
    "-x f",
    "-S f",
  ],
});
