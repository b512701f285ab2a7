import { developerTool } from "./declaration/developer-tool.ts";

/** Compilers run plug-ins and read their options from files of the project. */
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

/** Their first program is a version manager's, which runs the version that a file of the project names. */
export const managedCompilers = developerTool({
  names: ["rustc", "swiftc"],
  otherwise: ["project-code"],
  prints: [],
});
