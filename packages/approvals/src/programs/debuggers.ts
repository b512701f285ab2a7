import { developerTool } from "./declaration/developer-tool.ts";

/** Debuggers and profilers run one of the project's programs. */
export const debuggers = developerTool({
  names: ["gdb", "hyperfine", "lldb", "perf", "valgrind"],
  otherwise: ["project-code"],
});
