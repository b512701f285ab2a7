import { describe, expect, it } from "vitest";
import { mergeEnvironments } from "./child-environment.ts";

describe("merged environments", () => {
  const layers = [
    { Path: "a", KEEP: "1", GONE: "x" },
    { PATH: "b", GONE: undefined },
  ];

  it("keep unchanged variables and drop undefined ones", () => {
    expect(mergeEnvironments(layers, "linux")).toEqual({ Path: "a", PATH: "b", KEEP: "1" });
  });

  it("treat Path and PATH as one variable on Windows", () => {
    expect(mergeEnvironments(layers, "win32")).toEqual({ PATH: "b", KEEP: "1" });
  });
});
