import { describe, expect, it } from "vitest";
import type { AgentSpec, SpecField } from "../../contract/agent-spec.ts";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { planSpawn, type SpawnPlan } from "./plan-spawn.ts";

const SPEC: AgentSpec = { prompt: "Do it", cwd: "/srv/app" };
const CONTEXT = { codexHome: "/home/ann/.codex" };
const DENIED = { "/home/ann/.codex/installation_id": "deny", "/home/ann/.codex/auth.json": "deny" };

/** The translation of one value of a field: a part of the plan, or the reason why it is ignored. */
type Case = readonly [
  name: string,
  spec: Partial<AgentSpec>,
  becomes: PlanPart | { readonly ignored: RegExp },
];
type PlanPart = { readonly [Key in keyof SpawnPlan]?: unknown };

function sandbox(base: string, more: object = {}): PlanPart {
  const profile = { extends: base, filesystem: DENIED, ...more };
  return { thread: { permissions: "codexkit", config: { permissions: { codexkit: profile } } } };
}

function server(more: object): PlanPart {
  return { thread: { mcpServers: { db: { toolsApproval: "prompt", ...more } } } };
}

const db = { name: "db", command: "db-mcp" };

/** The cases of every field. A missing field does not compile. */
const FIELDS: Readonly<Record<SpecField, readonly Case[]>> = {
  prompt: [["the turn's input", { prompt: "Other" }, { prompt: "Other" }]],
  cwd: [
    [
      "the thread's folder and the policy's workspace",
      { cwd: "/srv/b" },
      { thread: { cwd: "/srv/b" }, permissions: { policy: { workspace: { roots: ["/srv/b"] } } } },
    ],
  ],
  env: [
    [
      "the environment of commands, added to Codex's own setting",
      {
        env: { A: "1" },
        providerConfig: { config: { shell_environment_policy: { inherit: "core", set: { B: "2" } } } },
      },
      { thread: { config: { shell_environment_policy: { inherit: "core", set: { A: "1", B: "2" } } } } },
    ],
  ],
  autonomous: [
    [
      "true: the handler is not called",
      { autonomous: true, permissionConfig: { defaultDecision: "prompt" } },
      denies(),
    ],
    ["false, without a handler", { autonomous: false }, { ignored: /there is no `ask` handler/ }],
  ],
  sandboxEnabled: [
    ["true", { sandboxEnabled: true }, sandbox(":workspace")],
    [
      "false",
      { sandboxEnabled: false },
      { thread: { sandbox: "danger-full-access" }, permissions: { sandboxed: false } },
    ],
  ],
  sandboxLevel: [
    [
      "read-only",
      { sandboxLevel: "read-only" },
      { ...sandbox(":read-only"), permissions: { refused: ["edit"] } },
    ],
    ["workspace-write", { sandboxLevel: "workspace-write" }, sandbox(":workspace")],
    ["full-access", { sandboxLevel: "full-access" }, { thread: { sandbox: "danger-full-access" } }],
    [
      "a level without a sandbox",
      { sandboxLevel: "read-only", sandboxEnabled: false },
      { ignored: /no sandbox/ },
    ],
  ],
  allowedTools: [
    [
      "exclusive rules, and a refusal of every kind without an entry",
      { allowedTools: ["Bash(git push:*)", "Bash(npm test)"] },
      {
        permissions: {
          refused: ["edit", "mcp"],
          policy: {
            allow: [
              { kind: "prefix", argv: ["git", "push"] },
              { kind: "exact", argv: ["npm", "test"] },
            ],
          },
        },
        thread: { config: { web_search: "disabled", features: { multi_agent: false } } },
      },
    ],
    [
      "files, servers, searches and agents",
      { allowedTools: ["Edit(src/**)", "Write", "mcp__db__read", "mcp__web", "WebSearch", "Task"] },
      {
        permissions: {
          refused: ["command"],
          policy: {
            allow: [
              { kind: "path", glob: "src/**", access: "write" },
              { kind: "path", glob: "**", access: "write" },
              { kind: "mcp", server: "db", tool: "read" },
              { kind: "mcp", server: "web" },
            ],
          },
        },
      },
    ],
    [
      "the enabled tools of a server",
      { allowedTools: ["mcp__db__read"], mcpStdioServers: [db] },
      server({ enabledTools: ["read"] }),
    ],
    ["the commands with which Codex reads", { allowedTools: ["Grep"] }, allows([["grep"], ["rg"]])],
    ["a tool that Codex does not have", { allowedTools: ["Bash", "TodoWrite"] }, { ignored: /TodoWrite/ }],
  ],
  disallowedTools: [
    [
      "rules that deny",
      { disallowedTools: ["Bash(git push:*)", "mcp__db__drop"] },
      {
        permissions: {
          policy: {
            deny: [
              { kind: "prefix", argv: ["git", "push"] },
              { kind: "mcp", server: "db", tool: "drop" },
            ],
          },
        },
      },
    ],
    [
      "a refusal of every request of a kind",
      { disallowedTools: ["Bash", "Edit"] },
      { permissions: { refused: ["command", "edit"] } },
    ],
    ["searches", { disallowedTools: ["WebSearch"] }, { thread: { config: { web_search: "disabled" } } }],
    ["agents", { disallowedTools: ["Agent"] }, { thread: { config: { features: { multi_agent: false } } } }],
    ["a tool that Codex does not have", { disallowedTools: ["WebFetch"] }, { ignored: /WebFetch/ }],
  ],
  mcpStdioServers: [
    [
      "a server of the thread, which asks before every call",
      { mcpStdioServers: [{ ...db, args: ["-v"], env: { A: "1" } }] },
      server({ command: "db-mcp", args: ["-v"], env: { A: "1" } }),
    ],
    [
      "a server elsewhere",
      { mcpStdioServers: [{ name: "db", type: "http", url: "https://db.example", headers: { a: "b" } }] },
      server({ url: "https://db.example", headers: { a: "b" } }),
    ],
  ],
  mcpToolNames: [
    [
      "the tools that a server offers",
      { mcpStdioServers: [db], mcpToolNames: ["mcp__db__read"] },
      server({ enabledTools: ["read"] }),
    ],
    ["tools of an unknown server", { mcpToolNames: ["mcp__x__y"] }, { ignored: /mcp__x__y/ }],
  ],
  maxTurns: [["a limit that the provider enforces", { maxTurns: 3 }, { budget: { maxTurns: 3 } }]],
  maxTokens: [["a limit that the provider enforces", { maxTokens: 3 }, { budget: { maxTokens: 3 } }]],
  maxCostUsd: [["nothing without prices", { maxCostUsd: 3 }, { ignored: /pass `prices` to the provider/ }]],
  model: [["the thread's model", { model: "gpt-6.1-sol" }, { thread: { model: "gpt-6.1-sol" } }]],
  effort: [["the turn's effort", { effort: "xhigh" }, { turn: { effort: "xhigh" } }]],
  baseInstructions: [["the thread's", { baseInstructions: "Be" }, { thread: { baseInstructions: "Be" } }]],
  systemPromptAppend: [
    ["developer instructions", { systemPromptAppend: "Also" }, { thread: { developerInstructions: "Also" } }],
  ],
  permissionConfig: [
    [
      "rules about commands",
      { permissionConfig: { allowPatterns: ["^git "], disallowPatterns: ["--force"] } },
      {
        permissions: {
          policy: {
            default: "allow",
            deny: [{ kind: "regex", pattern: "--force" }],
            allow: [{ kind: "regex", pattern: ".*?(?:^git ).*" }],
          },
        },
      },
    ],
    ["deny", { permissionConfig: { defaultDecision: "deny" } }, denies()],
    ["prompt, which denies without a handler", { permissionConfig: { defaultDecision: "prompt" } }, denies()],
  ],
  codeIntelligenceEnforcement: [
    [
      "an unsupported requirement",
      { codeIntelligenceEnforcement: { enforceUsage: true } },
      { ignored: /code intelligence/ },
    ],
    ["nothing to enforce", { codeIntelligenceEnforcement: { enforceUsage: false } }, { ignored: /^$/ }],
  ],
  providerConfig: [
    [
      "Codex's own settings",
      {
        providerConfig: {
          config: { tool_output_token_limit: 9 },
          modelProvider: "p",
          serviceTier: "flex",
          summary: "concise",
          outputSchema: { type: "object" },
        },
      },
      {
        thread: { modelProvider: "p", serviceTier: "flex", config: { tool_output_token_limit: 9 } },
        turn: { summary: "concise", outputSchema: { type: "object" } },
      },
    ],
    [
      "additional permissions in the sandbox",
      { providerConfig: { networkAccess: true, writableRoots: ["/srv/cache"] } },
      sandbox(":workspace", {
        network: { enabled: true },
        filesystem: { "/srv/cache": "write", ...DENIED },
      }),
    ],
    ["settings of another provider", { providerConfig: { temperature: 1 } }, { ignored: /temperature/ }],
  ],
  subAgentProvider: [
    ["codex", { subAgentProvider: "codex" }, { ignored: /^$/ }],
    ["another", { subAgentProvider: "claude" }, { ignored: /run on Codex too/ }],
  ],
  timeoutMs: [["a limit that the provider enforces", { timeoutMs: 5 }, { budget: { timeoutMs: 5 } }]],
  openTimeoutMs: [
    ["a limit that the provider enforces", { openTimeoutMs: 5 }, { budget: { openTimeoutMs: 5 } }],
  ],
  onProcessSpawned: [["a callback of the provider", { onProcessSpawned: () => {} }, { ignored: /^$/ }]],
};

function denies(): PlanPart {
  return { permissions: { policy: { default: "deny", preset: "read-only", effects: { read: "deny" } } } };
}

function allows(prefixes: readonly (readonly string[])[]): PlanPart {
  return { permissions: { policy: { allow: prefixes.map((argv) => ({ kind: "prefix", argv })) } } };
}

const lines = SPEC_FIELDS.flatMap((field) =>
  FIELDS[field].map(([name, spec, becomes]) => [field, name, spec, becomes] as const),
);

describe("a plan", () => {
  it("is deterministic, ignores nothing of a plain spec, and is serialisable as JSON", () => {
    const plan = planSpawn(SPEC, CONTEXT);
    expect(plan).toEqual(planSpawn(SPEC, CONTEXT));
    expect(plan.ignored).toEqual([]);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  it.each(lines)("translates or explains %s: %s", (field, _, spec, becomes) => {
    const plan = planSpawn({ ...SPEC, ...spec }, CONTEXT);
    const reasons = plan.ignored.filter((one) => one.field === field).map(({ reason }) => reason);
    const { ignored, ...part } = becomes as { ignored?: RegExp } & PlanPart;
    expect(reasons.join()).toMatch(ignored ?? /^$/);
    expect(plan).toMatchObject(part);
  });

  it("asks a person if there is a handler and the spec is not autonomous", () => {
    const spec = { ...SPEC, autonomous: false, permissionConfig: { defaultDecision: "prompt" } } as const;
    const plan = planSpawn(spec, { ...CONTEXT, canAsk: true });
    expect(plan.ignored).toEqual([]);
    expect(plan.permissions.policy).toMatchObject({ default: "ask", effects: { read: "ask" } });
  });

  it("keeps the tool lists of servers separate, and uses their intersection", () => {
    const plan = planSpawn(
      {
        ...SPEC,
        mcpStdioServers: [db, { ...db, name: "web" }],
        mcpToolNames: ["mcp__db__read", "mcp__db__write", "mcp__web"],
        allowedTools: ["mcp__db__write", "mcp__db__drop"],
      },
      CONTEXT,
    );
    expect(plan.thread.mcpServers).toMatchObject({
      db: { enabledTools: ["write"] },
      web: { enabledTools: [] },
    });
  });

  it.each<[string, Partial<AgentSpec>]>([
    ["an invalid pattern", { permissionConfig: { allowPatterns: ["("] } }],
    ["a tool entry without a command", { allowedTools: ["Bash(:*)"] }],
    ["settings of the wrong type", { providerConfig: { config: "x" } }],
  ])("is refused for %s", (_, spec) => {
    expect(() => planSpawn({ ...SPEC, ...spec }, CONTEXT)).toThrow(
      expect.objectContaining({ code: "invalid_spec" }),
    );
  });
});
