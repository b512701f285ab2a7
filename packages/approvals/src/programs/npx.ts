import { developerTool } from "./declaration/developer-tool.ts";

/** Runs a tool of the project, or fetches it from the configured registry if it is not installed. */
export const npx = developerTool({
  names: ["npx", "bunx", "pnpx"],
  otherwise: ["install", "project-code"],
  rejects: ["--call", "--script-shell", "--shell", "-c"],
  passesOperands: true,
});
