import { developerTool } from "./declaration/developer-tool.ts";

export const nix = developerTool({
  names: ["nix"],
  verbs: {
    build: ["project-code"],
    copy: ["system"],
    daemon: ["system"],
    derivation: ["project-code"],
    develop: ["project-code"],
    eval: ["project-code"],
    flake: ["project-code"],
    fmt: ["project-code"],
    log: ["project-code"],
    "path-info": ["project-code"],
    profile: ["system"],
    registry: ["system"],
    repl: ["project-code"],
    run: ["project-code"],
    search: ["remote-read"],
    shell: ["project-code"],
    store: ["system"],
    "upgrade-nix": ["system"],
    "why-depends": ["project-code"],
  },
});
