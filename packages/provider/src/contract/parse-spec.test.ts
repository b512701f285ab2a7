import { describe, expect, it } from "vitest";
import { refuseIgnored } from "./ignored-field.ts";
import { parseSpec, SPEC_FIELDS } from "./parse-spec.ts";

const SPEC = { prompt: "Do it", cwd: "/tmp" };

describe("a spec", () => {
  it("has 24 fields: 19 for the task, two time limits, two cost limits and a callback", () => {
    expect(SPEC_FIELDS).toHaveLength(19 + 5);
  });

  it.each<[string, object, RegExp]>([
    ["without a prompt", { cwd: "/tmp" }, /prompt: /],
    ["with a relative folder", { ...SPEC, cwd: "here" }, /cwd: must be an absolute path/],
    ["with an unknown field", { ...SPEC, colour: "red" }, /spec: .*colour/],
    ["with an unknown sandbox level", { ...SPEC, sandboxLevel: "danger" }, /sandboxLevel: /],
    ["with a server without a command", { ...SPEC, mcpStdioServers: [{ name: "a" }] }, /needs a command/],
    [
      "with two servers of the same name",
      { ...SPEC, mcpStdioServers: ["a", "a"].map((name) => ({ name, command: "x" })) },
      /the same name/,
    ],
    ["with a time limit beyond the maximum of a timer", { ...SPEC, timeoutMs: 2 ** 31 }, /timeoutMs: /],
    ["that requires an unknown field", { ...SPEC, required: ["colour"] }, /required.0: /],
    ["with several faults", { cwd: 1, maxTurns: 0 }, /prompt: .*cwd: .*maxTurns: /],
  ])("%s is refused by name", (_, spec, message) => {
    expect(() => parseSpec(spec)).toThrow(
      expect.objectContaining({ code: "invalid_spec", message: expect.stringMatching(message) }),
    );
  });

  it("is returned unchanged", () => {
    const spec = { ...SPEC, maxTurns: 3, required: ["maxTurns"], onProcessSpawned: () => {} };
    expect(parseSpec(spec)).toEqual(spec);
  });

  it("is refused if a required field would be ignored, and only then", () => {
    const ignored = [{ field: "effort", reason: "it has none" } as const];
    expect(() => refuseIgnored("p", { required: ["effort"] }, ignored)).toThrow(
      expect.objectContaining({ code: "unsupported", message: expect.stringContaining("it has none") }),
    );
    expect(() => refuseIgnored("p", { required: ["model"] }, ignored)).not.toThrow();
    expect(() => refuseIgnored("p", {}, ignored)).not.toThrow();
  });
});
