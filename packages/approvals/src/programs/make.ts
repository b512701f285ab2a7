import { developerTool } from "./declaration/developer-tool.ts";

export const make = developerTool({
  names: ["make", "gmake"],
  otherwise: ["project-code"],
});
