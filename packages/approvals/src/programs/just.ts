import { developerTool } from "./declaration/developer-tool.ts";

export const just = developerTool({
  names: ["just"],
  otherwise: ["project-code"],
  rejects: ["--chooser", "--command", "--cygpath", "--shell", "--shell-arg", "--shell-command", "-c"],
});
