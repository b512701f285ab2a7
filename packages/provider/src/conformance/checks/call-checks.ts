import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { AgentCapabilities } from "../../contract/capabilities.ts";
import type { Check } from "../check.ts";
import { endedWith, obeysLaw } from "../law-of-the-stream.ts";
import { holds, within } from "../within.ts";

const tier = "event-contract";

const TEXTS = ["toolPermissionFormat", "humanLabel"] as const satisfies readonly (keyof AgentCapabilities)[];

/** How the provider itself is called, and ended. */
export const CALL_CHECKS: readonly Check[] = [
  {
    id: "names-itself",
    tier,
    title: "has a name, and says yes or no to every capability",
    run: async ({ provider: { name, capabilities } }) => {
      holds(name !== "", "the name is empty");
      for (const [flag, value] of Object.entries(capabilities)) {
        const type = (TEXTS as readonly string[]).includes(flag) ? "string" : "boolean";
        holds(typeof value === type, `the capability ${flag} should be a ${type}, and is ${String(value)}`);
      }
    },
  },
  {
    id: "bad-spec-refused",
    tier,
    title: "refuses a spec that is none with invalid_spec",
    earns: true,
    run: async (bench) => {
      const { prompt: _prompt, ...mute } = bench.scenarios.works();
      const faults: readonly (readonly [string, object])[] = [
        ["a spec without a prompt", mute],
        ["a spec with a relative folder", { ...bench.scenarios.works(), cwd: "somewhere" }],
        ["a spec with an unknown field", { ...bench.scenarios.works(), conformance: true }],
      ];
      for (const [what, spec] of faults)
        await bench.refuses(what, ["invalid_spec"], () => bench.provider.spawn(spec as AgentSpec));
    },
  },
  {
    id: "shutdown-ends-handles",
    tier,
    title: "ends live sessions with provider_shutdown when it is shut down, which may be done again",
    earns: true,
    run: async (bench) => {
      const provider = await bench.freshProvider();
      const read = await bench.spawn(bench.scenarios.works(), {}, provider);
      await read.next();
      const unread = await bench.spawn(bench.scenarios.works(), {}, provider);
      const { shutdownMs } = bench.limits;
      await within("shutdown()", shutdownMs, provider.shutdown());
      await within("a second shutdown()", shutdownMs, provider.shutdown());
      for (const session of [read, unread]) {
        await session.toEnd();
        endedWith(session, "error provider_shutdown");
        obeysLaw(session);
      }
    },
  },
  {
    id: "refuses-after-shutdown",
    tier,
    title: "refuses to spawn and to resume with shut_down once it is shut down",
    earns: true,
    run: async (bench) => {
      const provider = await bench.freshProvider();
      await within("shutdown()", bench.limits.shutdownMs, provider.shutdown());
      const spec = bench.scenarios.works();
      await bench.refuses("spawn() after the shutdown", ["shut_down"], () => provider.spawn(spec));
      // A provider that never resumes may say that first.
      await bench.refuses("resume() after the shutdown", ["shut_down", "unsupported"], () =>
        provider.resume(crypto.randomUUID(), spec),
      );
    },
  },
];
