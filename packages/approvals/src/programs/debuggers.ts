import { developerTool } from "./declaration/developer-tool.ts";

/** Debuggers and profilers run a program of the project. */
export const debuggers = developerTool({
  names: ["gdb", "hyperfine", "lldb", "perf", "valgrind"],
  otherwise: ["project-code"],
});
