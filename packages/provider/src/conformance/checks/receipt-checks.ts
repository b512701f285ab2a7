import type { AgentSpec } from "../../contract/agent-spec.ts";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { type Check, notApplicable } from "../harness/check.ts";
import { checkStream } from "../harness/stream-rules.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import type { ObservedSession } from "../harness/observed-session.ts";
import { failure, assertThat } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "adaptation-receipt";

/** Checks of the ignored fields, and of the capabilities that scenarios can prove. */
export const RECEIPT_CHECKS: readonly Check[] = [
  ...forSpawnAndResume([
    {
      id: "receipt-is-valid",
      tier,
      title: "lists as ignored only fields that were set, each once and with a reason",
      earns: true,
      run: async (context, openedBy) => {
        const spec = {
          ...context.scenarios.works(),
          systemPromptAppend: "Be brief.",
          subAgentProvider: "another",
        };
        const session = await context.open(openedBy, spec);
        await session.next();
        const { handle } = session;
        for (const { field, reason } of handle.ignored) {
          assertThat(
            SPEC_FIELDS.includes(field),
            `\`ignored\` has "${field}", which is not a field of AgentSpec`,
          );
          assertThat(Object.hasOwn(spec, field), `\`ignored\` has ${field}, which was not set`);
          assertThat(reason.trim() !== "", `\`ignored\` has no reason for ${field}`);
        }
        const fields = handle.ignored.map(({ field }) => field);
        assertThat(
          new Set(fields).size === fields.length,
          `\`ignored\` has a field twice: ${fields.join(", ")}`,
        );
      },
    },
    {
      id: "required-is-refused",
      tier,
      title: "refuses with unsupported if a field that it ignores is required",
      run: async (context, openedBy) => {
        const spec = { ...context.scenarios.works(), subAgentProvider: "another" };
        const session = await context.open(openedBy, spec);
        await session.stop();
        if (!isIgnored(session, "subAgentProvider")) throw notApplicable("subAgentProvider is honoured");
        const required: AgentSpec = { ...spec, required: ["subAgentProvider"] };
        const { sessionId } = session.handle;
        await context.expectRefusal(`${openedBy}() with a required field`, ["unsupported"], () =>
          openedBy === "spawn"
            ? context.provider.spawn(required)
            : context.provider.resume(sessionId, required),
        );
      },
    },
  ]),
  {
    id: "server-is-used",
    tier,
    title: "makes the tools of the MCP servers in the spec available to the agent",
    run: async (context) => {
      const { acceptsMcpServerSpec, supportsToolPlugins } = context.provider.capabilities;
      if (!acceptsMcpServerSpec && !supportsToolPlugins)
        throw notApplicable("acceptsMcpServerSpec and supportsToolPlugins are false");
      const session = await runScenario(context, "acceptsMcpServerSpec", "usesServer");
      const uses = session.events.filter((event) => event.kind === "tool_use");
      const called = uses.find(({ toolCategory }) => toolCategory === "mcp");
      assertThat(called !== undefined, `no MCP tool was used; events: ${session.kinds}`);
      const answer = session.events.find(
        (event) => event.kind === "tool_result" && event.toolUseId === called.toolUseId,
      );
      assertThat(
        answer?.kind === "tool_result" && !answer.isError,
        () => `the MCP tool did not succeed: ${JSON.stringify(answer)}`,
      );
    },
  },
  {
    id: "permission-is-answered",
    tier,
    title: "answers permission requests according to permissionConfig, and reports denials",
    run: async (context) => {
      if (!context.provider.capabilities.needsPermissionConfig)
        throw notApplicable("needsPermissionConfig is false");
      for (const defaultDecision of ["deny", "allow"] as const) {
        const session = await runScenario(context, "needsPermissionConfig", "asks", {
          permissionConfig: { defaultDecision },
        });
        const denied = session.events.some(
          (event) => event.kind === "system" && event.subtype === "approval_denied",
        );
        const expected = defaultDecision === "deny";
        assertThat(
          denied === expected,
          `with "${defaultDecision}" there should be ${expected ? "an" : "no"} approval_denied event; events: ${session.kinds}`,
        );
      }
    },
  },
  {
    id: "subagents-are-reported",
    tier,
    title: "reports the events of subagents, with their identity",
    run: async (context) => {
      if (!context.provider.capabilities.emitsSubagentEvents)
        throw notApplicable("emitsSubagentEvents is false");
      const session = await runScenario(context, "emitsSubagentEvents", "startsAgent");
      const marked = session.events.flatMap((event) =>
        "subagent" in event && event.subagent !== undefined ? [event.subagent] : [],
      );
      assertThat(marked.length > 0, `no event has a \`subagent\`; events: ${session.kinds}`);
      const known = new Set([session.handle.sessionId, ...marked.map(({ id }) => id)]);
      for (const { id, parentId } of marked) {
        assertThat(id !== session.handle.sessionId, "a subagent has the id of the session");
        assertThat(known.has(parentId), `the subagent "${id}" has the unknown parent "${parentId}"`);
      }
    },
  },
];

/** Runs the scenario that proves a capability. */
async function runScenario(
  context: CheckContext,
  claim: string,
  scenario: "usesServer" | "asks" | "startsAgent",
  more: object = {},
): Promise<ObservedSession> {
  const spec = context.scenarios[scenario]?.();
  if (!spec) throw failure(`${claim} is true but not proven: there is no scenario \`${scenario}\``);
  const session = await (await context.spawn({ ...spec, ...more })).readToEnd();
  checkStream(session);
  return session;
}

function isIgnored({ handle }: ObservedSession, name: string): boolean {
  return handle.ignored.some(({ field }) => field === name);
}
