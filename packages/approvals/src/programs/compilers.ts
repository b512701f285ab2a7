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
    "rustc",
    "scalac",
    "solc",
    "swiftc",
    "tsc",
    "tsgo",
    "zig",
  ],
  otherwise: ["project-code"],
});
