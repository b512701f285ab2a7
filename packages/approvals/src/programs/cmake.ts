import { developerTool } from "./declaration/developer-tool.ts";

export const cmake = developerTool({
  names: ["cmake"],
  otherwise: ["project-code"],
});
