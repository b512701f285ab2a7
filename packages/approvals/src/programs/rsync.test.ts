import { describeProgram } from "../../test/describe-program.ts";
import { rsync } from "./rsync.ts";

describeProgram(rsync, {
  understood: {
    "-a src/ out/": ["action unpack", "read src/", "write out/", "write out/src"],
    "-a --delete dist/ out": [
      "action unpack",
      "read dist/",
      "write out",
      "write out/dist",
      "delete-tree out",
    ],
    "-avz -e ssh site/ user@host:/srv": ["action unpack", "read site/", "send user@host"],
    "-av host:/srv/x in": ["action unpack", "connect host", "write in", "write in/x"],
    "-d a/ .": ["action unpack", "read a/", "write .", "write ./a"],
    "-l a b": ["action unpack", "read a", "write b", "write b/a"],
    "a b": ["read a", "write b", "write b/a"],
  },
  notUnderstood: [
    "a",
    "-a --rsync-path=id a host:b",
    "-e 'sh -c id' a host:b",
    "-a --log-file=x a b",
    "-a --write-batch=x a b",
    "-a --files-from=x a b",
    "-a --filter='merge x' a b",
    "-a -f x a b",
    "-a --remove-source-files a b",
    "-a --backup-dir=x a b",
    "-a --temp-dir=x a b",
    "-a a <unknown>",
    "-a * out",
    "-a a out*",
    "host::mod x",
    "rsync://host/mod x",
    "host:a host:b",
    "-a --rsh=id a host:b",
    "--delet a b",
    "-aR a/.git/x out",
  ],
});
