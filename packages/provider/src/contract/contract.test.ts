import { describe, expect, it } from "vitest";
import type { AgentProvider } from "./agent-provider.ts";
import { refuseIgnored } from "./ignored-field.ts";
import { parseSpec, SPEC_FIELDS } from "./parse-spec.ts";
import { ProviderError } from "./provider-error.ts";
import { createProviders } from "./providers.ts";

const SPEC = { prompt: "Do it", cwd: "/tmp" };

describe("a spec", () => {
  it("has nineteen fields that can be stored, two limits of time, two of cost, and a callback", () => {
    expect(SPEC_FIELDS).toHaveLength(19 + 5);
  });

  it.each<[string, object, RegExp]>([
    ["without a prompt", { cwd: "/tmp" }, /prompt: /],
    ["with a relative folder", { ...SPEC, cwd: "here" }, /cwd: must be an absolute path/],
    ["with an unknown field", { ...SPEC, colour: "red" }, /spec: .*colour/],
    ["with a sandbox that is none", { ...SPEC, sandboxLevel: "danger" }, /sandboxLevel: /],
    ["with a server without a command", { ...SPEC, mcpStdioServers: [{ name: "a" }] }, /needs a command/],
    [
      "with two servers of one name",
      { ...SPEC, mcpStdioServers: ["a", "a"].map((name) => ({ name, command: "x" })) },
      /the same name/,
    ],
    ["with a time limit that no timer can hold", { ...SPEC, timeoutMs: 2 ** 31 }, /timeoutMs: /],
    ["that requires what is no field", { ...SPEC, required: ["colour"] }, /required.0: /],
    ["with several faults", { cwd: 1, maxTurns: 0 }, /prompt: .*cwd: .*maxTurns: /],
  ])("%s is refused by name", (_, spec, message) => {
    expect(() => parseSpec(spec)).toThrow(
      expect.objectContaining({ code: "invalid_spec", message: expect.stringMatching(message) }),
    );
  });

  it("is taken as it is", () => {
    const spec = { ...SPEC, maxTurns: 3, required: ["maxTurns"], onProcessSpawned: () => {} };
    expect(parseSpec(spec)).toEqual(spec);
  });

  it("is refused where a required field would be ignored, and only there", () => {
    const ignored = [{ field: "effort", reason: "it has none" } as const];
    expect(() => refuseIgnored("p", { required: ["effort"] }, ignored)).toThrow(
      expect.objectContaining({ code: "unsupported", message: expect.stringContaining("it has none") }),
    );
    expect(() => refuseIgnored("p", { required: ["model"] }, ignored)).not.toThrow();
    expect(() => refuseIgnored("p", {}, ignored)).not.toThrow();
  });
});

describe("providers put together", () => {
  const provider = (name: string, shutdown: () => Promise<void> = async () => {}): AgentProvider =>
    ({ name, shutdown }) as AgentProvider;

  it("are found by name, and a name that is not there is told from those that are", async () => {
    const providers = await createProviders([provider("a"), Promise.resolve(provider("b"))]);
    expect(providers.get("b").name).toBe("b");
    expect(() => providers.get("c")).toThrow(
      expect.objectContaining({ code: "no_provider", message: expect.stringContaining("a, b") }),
    );
  });

  it("are all shut down, also when one fails at it", async () => {
    let ended = 0;
    const fails = provider("a", () => Promise.reject(new Error("no")));
    const ends = provider("b", async () => void (ended += 1));
    const providers = await createProviders([fails, ends]);
    await expect(providers.shutdown()).rejects.toThrow("could not be shut down");
    expect(ended).toBe(1);
  });

  it("are shut down when one of them can't be opened, or two have the same name", async () => {
    const ended: string[] = [];
    const ends = (name: string): AgentProvider => provider(name, async () => void ended.push(name));
    const late = Promise.withResolvers<AgentProvider>();
    const unavailable = new ProviderError("provider_unavailable", "There is no agent.");
    const creating = createProviders([ends("a"), Promise.reject(unavailable), late.promise]);
    late.resolve(ends("b"));
    await expect(creating).rejects.toBe(unavailable);
    expect(ended).toEqual(["a", "b"]);
    await expect(createProviders([ends("c"), ends("c")])).rejects.toThrow("the same name");
    expect(ended).toEqual(["a", "b", "c", "c"]);
  });
});
