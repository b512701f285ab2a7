import { developerTool } from "./declaration/developer-tool.ts";

export const helm = developerTool({
  names: ["helm"],
  verbs: {
    create: ["project-code"],
    dependency: ["install"],
    get: ["remote-read"],
    history: ["remote-read"],
    install: ["remote-write"],
    lint: ["project-code"],
    list: ["remote-read"],
    ls: ["remote-read"],
    package: ["project-code"],
    plugin: ["system"],
    pull: ["install"],
    push: ["remote-write"],
    repo: ["system"],
    rollback: ["remote-write"],
    search: ["remote-read"],
    show: ["remote-read"],
    status: ["remote-read"],
    template: ["project-code"],
    test: ["remote-write"],
    uninstall: ["remote-write"],
    upgrade: ["remote-write"],
  },
  beforeVerb: { values: ["-n", "--namespace", "--kube-context"] },
});
