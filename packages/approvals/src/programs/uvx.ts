import { developerTool } from "./declaration/developer-tool.ts";

export const uvx = developerTool({
  names: ["uvx", "pipx"],
  otherwise: ["install", "project-code"],
});
