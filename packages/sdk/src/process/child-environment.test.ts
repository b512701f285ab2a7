import { describe, expect, it } from "vitest";
import { mergeEnvironments } from "./child-environment.ts";

describe("environments laid over one another", () => {
  const layers = [
    { Path: "a", KEEP: "1", GONE: "x" },
    { PATH: "b", GONE: undefined },
  ];

  it("keep what is not changed, and lose what is undefined", () => {
    expect(mergeEnvironments(layers, "linux")).toEqual({ Path: "a", PATH: "b", KEEP: "1" });
  });

  it("know on Windows that Path and PATH are one", () => {
    expect(mergeEnvironments(layers, "win32")).toEqual({ PATH: "b", KEEP: "1" });
  });
});
