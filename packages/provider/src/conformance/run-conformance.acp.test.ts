import { tempFolder } from "@codexkit/testing";
import { it } from "vitest";
import { expectEveryTier } from "../../test/expect-every-tier.ts";
import { ECHO_SERVER, launchTiny } from "../../test/tiny-agent.ts";
import type { AcpProvider } from "../acp/acp-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { runConformance } from "./run-conformance.ts";

it(
  "an ACP agent with every extension earns every tier",
  {
    timeout: 240_000,
  },
  async () => {
    await using home = await tempFolder("acp");
    const spec = (prompt: string): AgentSpec => ({ prompt, cwd: home.path });
    const make = (): Promise<AcpProvider> =>
      launchTiny({
        env: { ACP_TEST_HOME: home.path },
        supportsReasoningEffort: true,
        asksPermission: "always",
      });
    const report = await runConformance(make, {
      scenarios: {
        says: (words) => spec(`say ${words}`),
        works: () => spec("work"),
        usesTool: () => spec("tool"),
        echoes: () => spec("listen"),
        remembers: { store: (words) => spec(`remember ${words}`), recall: () => spec("recall") },
        usesServer: () => ({ ...spec("server hello"), mcpStdioServers: ECHO_SERVER }),
        asks: () => spec("ask execute make test"),
        crash: (provider) => {
          const { pid } = provider as AcpProvider;
          if (pid !== undefined) process.kill(pid, "SIGKILL");
        },
      },
      samples: { model: "large", providerConfig: { mode: "plan" } },
    });
    expectEveryTier(report);
  },
);
