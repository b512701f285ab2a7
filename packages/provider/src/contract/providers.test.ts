import { describe, expect, it } from "vitest";
import type { AgentProvider } from "./agent-provider.ts";
import { ProviderError } from "./provider-error.ts";
import { createProviders } from "./providers.ts";

describe("a collection of providers", () => {
  const provider = (name: string, shutdown: () => Promise<void> = async () => {}): AgentProvider =>
    ({ name, shutdown }) as AgentProvider;

  it("finds providers by name, and lists the known names for an unknown one", async () => {
    const providers = await createProviders([provider("a"), Promise.resolve(provider("b"))]);
    expect(providers.get("b").name).toBe("b");
    expect(() => providers.get("c")).toThrow(
      expect.objectContaining({ code: "no_provider", message: expect.stringContaining("a, b") }),
    );
  });

  it("shuts down all providers, even if one fails", async () => {
    let ended = 0;
    const fails = provider("a", () => Promise.reject(new Error("no")));
    const ends = provider("b", async () => void (ended += 1));
    const providers = await createProviders([fails, ends]);
    await expect(providers.shutdown()).rejects.toThrow("could not be shut down");
    expect(ended).toBe(1);
  });

  it("shuts down the others if one can't be created, or if two have the same name", async () => {
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
