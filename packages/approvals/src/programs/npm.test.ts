import { describeProgram } from "../../test/describe-program.ts";
import { npm } from "./npm.ts";

describeProgram(npm, {
  understood: {
    "i -fg x": ["action install", "action system"],
    "i --global=true x": ["action install", "action system"],
    "i --glob x": ["action install", "action system"],
    "i --location global x": ["action install", "action system"],
    "i --location=project x": ["action install"],
    "run build --grep x": ["action project-code"],
    test: ["action project-code"],
    "run build -- --watch": ["action project-code"],
    "run build -- -c x": ["action project-code"],
    "test --globalSetup /tmp/x": ["action project-code", "write /tmp/x", "execute /tmp/x"],
    "test --outputFile=/tmp/x": ["action project-code", "write /tmp/x"],
    "--prefix ./web test": ["action project-code"],
    "--prefix ../other test": ["action project-code", "write ../other", "execute ../other"],
    "i -D typescript@5": ["action install"],
    "install -g x": ["action install", "action system"],
    "view react version": ["action remote-read"],
    "config get registry": ["action project-code"],
    "config set x y": ["action system"],
    publish: ["action remote-write"],
    "install https://host.example/x.tgz": ["action install", "connect https://host.example/x.tgz"],
    "--version": [],
  },
  notUnderstood: [
    "",
    "no-such-verb",
    "--script-shell sh run x",
    "--loglevel test deploy",
    "test --script-shell=/tmp/x",
    "exec -c 'rm x'",
  ],
});
