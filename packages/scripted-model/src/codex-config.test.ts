import { describe, expect, it } from "vitest";

import { codexConfig, withoutModelVariables } from "./codex-config.ts";

describe("the configuration for Codex", () => {
  it("is the same in every form", () => {
    const { overrides, args, toml } = codexConfig("http://127.0.0.1:1/v1", { model: "gpt-5.5", retries: 0 });
    expect(overrides).toContain('model="gpt-5.5"');
    expect(overrides).toContain('model_providers.scripted.base_url="http://127.0.0.1:1/v1"');
    expect(overrides).toContain("model_providers.scripted.stream_max_retries=0");
    expect(args.filter((arg) => arg !== "-c")).toEqual(overrides);
    expect(toml).toBe(`${overrides.join("\n")}\n`);
  });

  it("uses Codex's own retries and model by default", () => {
    const { toml } = codexConfig({ url: "http://127.0.0.1:1/v1" });
    expect(toml).not.toMatch(/retries|^model=/m);
  });

  it("removes keys and proxies from an environment, in any case", () => {
    const env = { PATH: "p", OPENAI_FOO: "x", codex_api_key: "x", http_proxy: "x", CODEX_HOME: "h" };
    expect(withoutModelVariables(env)).toEqual({ PATH: "p", CODEX_HOME: "h" });
  });
});
