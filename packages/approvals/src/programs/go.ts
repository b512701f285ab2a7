import { developerTool } from "./declaration/developer-tool.ts";

export const go = developerTool({
  names: ["go"],
  verbs: {
    build: ["project-code"],
    clean: ["project-code"],
    doc: ["project-code"],
    env: ["project-code"],
    "env -u": ["system"],
    "env -w": ["system"],
    fix: ["project-code"],
    fmt: ["project-code"],
    generate: ["project-code"],
    get: ["install"],
    help: ["project-code"],
    install: ["install"],
    list: ["project-code"],
    mod: ["install"],
    run: ["project-code"],
    telemetry: ["project-code"],
    test: ["project-code"],
    tool: ["project-code"],
    version: ["project-code"],
    vet: ["project-code"],
    work: ["project-code"],
  },
  beforeVerb: { values: ["-C"] },
});
