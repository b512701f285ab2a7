import { loadedModules } from "@codexkit/testing";
import { describe, expect, it } from "vitest";

const AGENTS = /packages\/(?:sdk|approvals|protocol)\/|@agentclientprotocol/;

describe("the entry points", () => {
  it.each(["./index.ts", "./stub/index.ts", "./conformance/index.ts"])("load no agent: %s", async (entry) => {
    expect(await loadedModules(new URL(entry, import.meta.url))).not.toMatch(AGENTS);
  });

  it.each(["./codex/index.ts", "./acp/index.ts"])("load their agent's client: %s", async (entry) => {
    expect(await loadedModules(new URL(entry, import.meta.url))).toMatch(AGENTS);
  });
});
