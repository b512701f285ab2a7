import { type Check, notApplicable, notVerified } from "../harness/check.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import { assertThat } from "../harness/assertions.ts";

const tier = "adaptation-receipt";

/** Checks that `env` and `onProcessSpawned` take effect. */
export const PROCESS_CHECKS: readonly Check[] = forSpawnAndResume([
  {
    id: "env-is-used",
    tier,
    title: "passes env to the agent's commands, if it honours env",
    run: async (context, openedBy) => {
      const name = "CODEXKIT_CONFORMANCE";
      const value = context.nonce();
      const probe = await context.open(openedBy, { ...context.scenarios.works(), env: { [name]: value } });
      await probe.stop();
      if (probe.handle.ignored.some(({ field }) => field === "env")) throw notApplicable("env is ignored");
      const spec = context.scenarios.saysVariable?.(name);
      if (!spec) throw notVerified("there is no scenario `saysVariable`");
      const session = await (
        await context.open(openedBy, { ...spec, env: { ...spec.env, [name]: value } })
      ).readToEnd();
      const shown = session.events
        .map((event) => (event.kind === "tool_result" ? event.content : ""))
        .concat(session.text)
        .join("\n");
      assertThat(
        shown.includes(value),
        `the agent should see "${value}" in its environment, but reported: ${shown}`,
      );
    },
  },
  {
    id: "process-id-is-reported",
    tier,
    title: "calls onProcessSpawned with the PID of a running process, if it honours onProcessSpawned",
    run: async (context, openedBy) => {
      const pids: unknown[] = [];
      const onProcessSpawned = (pid: unknown): void => void pids.push(pid);
      const session = await context.open(openedBy, { ...context.scenarios.works(), onProcessSpawned });
      if (session.handle.ignored.some(({ field }) => field === "onProcessSpawned"))
        throw notApplicable("onProcessSpawned is ignored");
      await session.next();
      assertThat(pids.length > 0, "onProcessSpawned is honoured, but was not called before the first event");
      for (const pid of pids) {
        assertThat(
          Number.isSafeInteger(pid) && Number(pid) > 0 && isRunning(Number(pid)),
          `onProcessSpawned got ${String(pid)}, which is not the PID of a running process`,
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
    // The process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
