import { developerTool } from "./declaration/developer-tool.ts";

export const pip = developerTool({
  names: ["pip", "pip3"],
  verbs: {
    cache: ["system"],
    check: ["project-code"],
    config: ["system"],
    debug: ["project-code"],
    download: ["install"],
    freeze: ["project-code"],
    hash: ["project-code"],
    help: ["project-code"],
    index: ["remote-read"],
    inspect: ["project-code"],
    install: ["install"],
    list: ["project-code"],
    lock: ["install"],
    search: ["remote-read"],
    show: ["project-code"],
    uninstall: ["install"],
    wheel: ["install"],
  },
  beforeVerb: {
    flags: ["-q", "--quiet", "-v", "--disable-pip-version-check", "--no-input"],
    values: ["--python"],
  },
});
