import { isDeepStrictEqual } from "node:util";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { type Check, notApplicable, notVerified } from "../check.ts";
import { endedWith, obeysLaw } from "../law-of-the-stream.ts";
import type { WatchedSession } from "../watched-session.ts";
import { failure, holds } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "adaptation-receipt";

/** Whether the receipt is true, and what the provider says of itself. */
export const RECEIPT_CHECKS: readonly Check[] = [
  {
    id: "receipt-is-told",
    tier,
    title: "tells the same receipt in init and on the handle, of fields that were set, with reasons",
    earns: true,
    run: async (bench) => {
      const spec = {
        ...bench.scenarios.works(),
        systemPromptAppend: "Be brief.",
        subAgentProvider: "another",
      };
      const session = await bench.spawn(spec);
      const first = await session.next();
      const { ignored } = session.handle;
      holds(first?.kind === "init", `the first event should be "init", and is "${first?.kind}"`);
      holds(isDeepStrictEqual(first.ignored, ignored), "the receipt of the handle is not that of init");
      for (const { field, reason } of ignored) {
        holds(SPEC_FIELDS.includes(field), `the receipt names "${field}", which is no field of a spec`);
        holds(Object.hasOwn(spec, field), `the receipt names ${field}, which was not set`);
        holds(reason.trim() !== "", `the receipt gives no reason for ${field}`);
      }
    },
  },
  {
    id: "deadline-is-kept",
    tier,
    title: "ends with deadline_exceeded when timeoutMs is over, if it honours it",
    run: async (bench) => {
      const session = await bench.spawn({ ...bench.scenarios.works(), timeoutMs: bench.limits.deadlineMs });
      if (isIgnored(session, "timeoutMs")) throw notApplicable("timeoutMs is ignored");
      await session.toEnd();
      endedWith(session, "result deadline_exceeded");
      obeysLaw(session);
    },
  },
  {
    id: "max-turns-are-kept",
    tier,
    title: "ends with max_turns when the model was called so often, if it honours it",
    run: async (bench) => {
      const spec = bench.scenarios.callsModelTwice?.();
      if (!spec) throw notVerified("there is no scenario `callsModelTwice`");
      const session = await bench.spawn({ ...spec, maxTurns: 1 });
      if (isIgnored(session, "maxTurns")) throw notApplicable("maxTurns is ignored");
      await session.toEnd();
      endedWith(session, "result max_turns");
      obeysLaw(session);
    },
  },
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
      const marked = session.events.some((event) => "subagent" in event && event.subagent !== undefined);
      holds(marked, `no event has a subagent; it told: ${session.kinds}`);
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
