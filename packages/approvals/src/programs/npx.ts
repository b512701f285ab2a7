import { developerTool } from "./declaration/developer-tool.ts";

/** Runs an installed tool, or fetches it from the configured registry. */
export const npx = developerTool({
  names: ["npx", "bunx", "pnpx"],
  otherwise: ["install", "project-code"],
  rejects: ["--call", "--script-shell", "--shell", "-c"],
  passesOperands: true,
});
