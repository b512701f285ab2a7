import { developerTool } from "./declaration/developer-tool.ts";

export const make = developerTool({
  names: ["make", "gmake"],
  prints: ["--help", "--version", "-h", "-v"],
  otherwise: ["project-code"],
});
