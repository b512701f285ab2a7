import { describeProgram } from "../../test/describe-program.ts";
import { node } from "./node.ts";

describeProgram(node, {
  understood: {
    "": ["stdin-code other"],
    "--version": [],
    "--test test/*.test.ts": ["action project-code", "execute test/*.test.ts"],
    "scripts/build.js --out dist --any": ["execute scripts/build.js"],
    "scripts/build.js <unknown>": ["execute scripts/build.js"],
    "--import tsx src/cli.ts --help": ["action project-code", "execute src/cli.ts"],
    "--test": ["action project-code"],
    "--run build": ["action project-code"],
    "-e 'console.log(1)'": ["inline-code console.log(1)"],
  },
  notUnderstood: [
    "--experimental-loader ./x.js a.js",
    "--insp a.js",
    "--openssl-config=x a.js",
    "<unknown>",
    "-e <unknown>",
  ],
});
