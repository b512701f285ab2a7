import { type Check, notApplicable, notVerified } from "../check.ts";
import { withTwins } from "../twins.ts";
import { holds } from "../within.ts";

const tier = "adaptation-receipt";

/** Whether fields that reach into processes are really used. */
export const PROCESS_CHECKS: readonly Check[] = withTwins([
  {
    id: "env-is-used",
    tier,
    title: "gives the variables of env to what the agent runs, if it honours it",
    run: async (bench, openedBy) => {
      const name = "CODEXKIT_CONFORMANCE";
      const value = bench.nonce();
      const probe = await bench.open(openedBy, { ...bench.scenarios.works(), env: { [name]: value } });
      await probe.stop();
      if (probe.handle.ignored.some(({ field }) => field === "env")) throw notApplicable("env is ignored");
      const spec = bench.scenarios.saysVariable?.(name);
      if (!spec) throw notVerified("there is no scenario `saysVariable`");
      const session = await (
        await bench.open(openedBy, { ...spec, env: { ...spec.env, [name]: value } })
      ).toEnd();
      const shown = session.events
        .map((event) => (event.kind === "tool_result" ? event.content : ""))
        .concat(session.text)
        .join("\n");
      holds(shown.includes(value), `the agent should see "${value}" in its environment, and told: ${shown}`);
    },
  },
  {
    id: "process-is-named",
    tier,
    title: "calls onProcessSpawned with the id of a process that runs, if it honours it",
    run: async (bench, openedBy) => {
      const pids: unknown[] = [];
      const onProcessSpawned = (pid: unknown): void => void pids.push(pid);
      const session = await bench.open(openedBy, { ...bench.scenarios.works(), onProcessSpawned });
      if (session.handle.ignored.some(({ field }) => field === "onProcessSpawned"))
        throw notApplicable("onProcessSpawned is ignored");
      await session.next();
      holds(pids.length > 0, "onProcessSpawned is honoured, and was not called by the first event");
      for (const pid of pids) {
        holds(
          Number.isSafeInteger(pid) && Number(pid) > 0 && isRunning(Number(pid)),
          `onProcessSpawned got ${String(pid)}, which is not the id of a process that runs`,
        );
      }
      await session.stop();
    },
  },
]);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user runs too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
