import { developerTool } from "./declaration/developer-tool.ts";

/** Compilers run plug-ins and read options from the project's files. */
export const compilers = developerTool({
  names: [
    "c++",
    "cc",
    "clang",
    "clang++",
    "elixirc",
    "erlc",
    "g++",
    "gcc",
    "ghc",
    "javac",
    "kotlinc",
    "ld",
    "ocamlfind",
    "protoc",
    "scalac",
    "solc",
    "tsc",
    "tsgo",
    "zig",
  ],
  otherwise: ["project-code"],
});

/** These may be launchers of a version manager, which run the version that a project file names. */
export const managedCompilers = developerTool({
  names: ["rustc", "swiftc"],
  otherwise: ["project-code"],
  prints: [],
});
