import { describeProgram } from "../../test/describe-program.ts";
import { pip } from "./pip.ts";

describeProgram(pip, {
  understood: {
    "install -r requirements.txt": ["action install"],
    "install -e '.[dev]'": ["action install"],
    "install --target /usr/lib x": ["action install", "write /usr/lib", "execute /usr/lib"],
    "install --index-url=https://host.example/simple x": [
      "action install",
      "connect https://host.example/simple",
    ],
    "install git+https://host.example/x": ["action install", "connect git+https://host.example/x"],
    "list --outdated": ["action project-code"],
    "config set x y": ["action system"],
  },
  notUnderstood: ["", "--proxy x install y"],
});
