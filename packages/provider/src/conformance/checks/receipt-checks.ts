import type { AgentSpec } from "../../contract/agent-spec.ts";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { type Check, notApplicable } from "../check.ts";
import { obeysLaw } from "../law-of-the-stream.ts";
import { withTwins } from "../twins.ts";
import type { WatchedSession } from "../watched-session.ts";
import { failure, holds } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "adaptation-receipt";

/** Whether the receipt is true, and what the provider says of itself. */
export const RECEIPT_CHECKS: readonly Check[] = [
  ...withTwins([
    {
      id: "receipt-is-told",
      tier,
      title: "gives a receipt only for fields that were set, each once and with a reason",
      earns: true,
      run: async (bench, openedBy) => {
        const spec = {
          ...bench.scenarios.works(),
          systemPromptAppend: "Be brief.",
          subAgentProvider: "another",
        };
        const session = await bench.open(openedBy, spec);
        await session.next();
        const { handle } = session;
        for (const { field, reason } of handle.ignored) {
          holds(SPEC_FIELDS.includes(field), `the receipt names "${field}", which is no field of a spec`);
          holds(Object.hasOwn(spec, field), `the receipt names ${field}, which was not set`);
          holds(reason.trim() !== "", `the receipt gives no reason for ${field}`);
        }
        const fields = handle.ignored.map(({ field }) => field);
        holds(
          new Set(fields).size === fields.length,
          `the receipt names a field twice: ${fields.join(", ")}`,
        );
      },
    },
    {
      id: "required-is-refused",
      tier,
      title: "refuses with unsupported where a field that it ignores is required",
      run: async (bench, openedBy) => {
        const spec = { ...bench.scenarios.works(), subAgentProvider: "another" };
        const session = await bench.open(openedBy, spec);
        await session.stop();
        if (!isIgnored(session, "subAgentProvider")) throw notApplicable("subAgentProvider is honoured");
        const required: AgentSpec = { ...spec, required: ["subAgentProvider"] };
        const { sessionId } = session.handle;
        await bench.refuses(`${openedBy}() with a required field`, ["unsupported"], () =>
          openedBy === "spawn" ? bench.provider.spawn(required) : bench.provider.resume(sessionId, required),
        );
      },
    },
  ]),
  {
    id: "server-is-used",
    tier,
    title: "gives the agent the tools of the servers in its spec",
    run: async (bench) => {
      const { acceptsMcpServerSpec, supportsToolPlugins } = bench.provider.capabilities;
      if (!acceptsMcpServerSpec && !supportsToolPlugins)
        throw notApplicable("acceptsMcpServerSpec and supportsToolPlugins are false");
      const session = await played(bench, "acceptsMcpServerSpec", "usesServer");
      const uses = session.events.filter((event) => event.kind === "tool_use");
      const called = uses.find(({ toolCategory }) => toolCategory === "mcp");
      holds(called !== undefined, `no tool of a server was used; it told: ${session.kinds}`);
      const answer = session.events.find(
        (event) => event.kind === "tool_result" && event.toolUseId === called.toolUseId,
      );
      holds(
        answer?.kind === "tool_result" && !answer.isError,
        () => `the server's tool did not answer: ${JSON.stringify(answer)}`,
      );
    },
  },
  {
    id: "permission-is-answered",
    tier,
    title: "answers what the agent asks as permissionConfig says, and tells when it denies",
    run: async (bench) => {
      if (!bench.provider.capabilities.needsPermissionConfig)
        throw notApplicable("needsPermissionConfig is false");
      for (const defaultDecision of ["deny", "allow"] as const) {
        const session = await played(bench, "needsPermissionConfig", "asks", {
          permissionConfig: { defaultDecision },
        });
        const denied = session.events.some(
          (event) => event.kind === "system" && event.subtype === "approval_denied",
        );
        const expected = defaultDecision === "deny";
        holds(
          denied === expected,
          `with "${defaultDecision}" there should be ${expected ? "an" : "no"} approval_denied: ${session.kinds}`,
        );
      }
    },
  },
  {
    id: "agents-are-shown",
    tier,
    title: "shows what the agents below its own do, marked with theirs",
    run: async (bench) => {
      if (!bench.provider.capabilities.emitsSubagentEvents)
        throw notApplicable("emitsSubagentEvents is false");
      const session = await played(bench, "emitsSubagentEvents", "startsAgent");
      const marked = session.events.flatMap((event) =>
        "subagent" in event && event.subagent !== undefined ? [event.subagent] : [],
      );
      holds(marked.length > 0, `no event has a subagent; it told: ${session.kinds}`);
      const known = new Set([session.handle.sessionId, ...marked.map(({ id }) => id)]);
      for (const { id, parentId } of marked) {
        holds(id !== session.handle.sessionId, "a subagent has the id of the session");
        holds(known.has(parentId), `the subagent "${id}" has the parent "${parentId}", which is not known`);
      }
    },
  },
];

/** The session of a scenario that proves a claim. */
async function played(
  bench: Workbench,
  claim: string,
  scenario: "usesServer" | "asks" | "startsAgent",
  more: object = {},
): Promise<WatchedSession> {
  const spec = bench.scenarios[scenario]?.();
  if (!spec) throw failure(`${claim} is claimed and not proven: there is no scenario \`${scenario}\``);
  const session = await (await bench.spawn({ ...spec, ...more })).toEnd();
  obeysLaw(session);
  return session;
}

function isIgnored({ handle }: WatchedSession, name: string): boolean {
  return handle.ignored.some(({ field }) => field === name);
}
