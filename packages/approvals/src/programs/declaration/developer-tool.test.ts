import { describeProgram } from "../../../test/describe-program.ts";
import { developerTool } from "./developer-tool.ts";

describeProgram(
  developerTool({
    names: ["builder"],
    verbs: { add: ["install"], build: ["project-code"], publish: ["remote-write"] },
    words: { "--global": ["system"] },
    beforeVerb: { flags: ["-q"], values: ["-C"], words: /^\+/ },
  }),
  {
    understood: {
      "--version": [],
      "+nightly build --release src/a.ts": ["action project-code"],
      "add --global x": ["action install", "action system"],
      "-q -C add build": ["action project-code"],
      "-C=add build": ["action project-code"],
      "build --out=../elsewhere": ["action project-code", "write ../elsewhere"],
      "build -C/etc": ["action project-code", "write /etc", "execute /etc"],
      "build <unknown>": ["action project-code"],
      "add https://host.example/x.tgz": ["action install", "connect https://host.example/x.tgz"],
      "add github:owner/repo": ["action install", "connect github:owner/repo"],
      "add x@https://host.example/x.tgz": ["action install", "connect https://host.example/x.tgz"],
      "add 'x @ git+https://host.example/x'": ["action install", "connect git+https://host.example/x"],
      "add -ihttps://host.example/simple x": ["action install", "connect https://host.example/simple"],
      "add @a/x@file:/srv/x": ["action install", "write /srv/x", "execute /srv/x"],
      "add x@/srv/x file:../x": [
        "action install",
        "write /srv/x",
        "execute /srv/x",
        "write ../x",
        "execute ../x",
      ],
      "add @a/x@1.2.3 x@^2": ["action install"],
      publish: ["action remote-write"],
    },
    notUnderstood: [
      "",
      "--quiet",
      "deploy",
      "<unknown>",
      "<unknown> build",
      "-x add build",
      "--log build publish",
    ],
  },
);
describeProgram(
  developerTool({ names: ["runner"], verbs: { login: ["remote-write"] }, otherwise: ["project-code"] }),
  {
    understood: {
      "": ["action project-code"],
      "lint --fix": ["action project-code"],
      login: ["action remote-write"],
    },
    notUnderstood: [],
  },
);
