import { type Check, notApplicable } from "../harness/check.ts";
import { checkStream } from "../harness/stream-rules.ts";
import { failure, assertThat, waitFor } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "resume";

/** Checks of moving a session to another provider. */
export const TRANSFER_CHECKS: readonly Check[] = [
  {
    id: "export-moves-session",
    tier,
    title: "resumes an exported session on a provider that did not have it",
    run: async (context) => {
      requireExport(context);
      const { remembers, otherMachine } = context.scenarios;
      if (!remembers || !otherMachine) {
        const missing = remembers ? "otherMachine" : "remembers";
        throw failure(`supportsSessionExport is true but not proven: there is no scenario \`${missing}\``);
      }
      const words = context.nonce();
      const first = await (await context.spawn(remembers.store(words))).readToEnd();
      await first.stop();
      const { sessionId } = first.handle;
      const { callMs } = context.limits;
      const bytes = await waitFor("export()", callMs, context.provider.export(sessionId));
      assertThat(bytes instanceof Uint8Array, "export() should return a Uint8Array");
      const other = await context.freshProvider(otherMachine);
      await context.expectRefusal("resume() before the import", ["session_not_found"], () =>
        other.resume(sessionId, remembers.recall()),
      );
      for (const time of ["import()", "a second import()"]) {
        const id = await waitFor(time, callMs, other.import(bytes));
        assertThat(id === sessionId, `${time} should return "${sessionId}", but returned "${id}"`);
      }
      const session = await (await context.resume(sessionId, remembers.recall(), {}, other)).readToEnd();
      checkStream(session);
      assertThat(session.text.includes(words), `the agent should say "${words}", but said "${session.text}"`);
    },
  },
  {
    id: "export-busy",
    tier,
    title: "refuses to export a running session with session_busy",
    run: async (context) => {
      requireExport(context);
      const session = await context.spawn(context.scenarios.works());
      await session.next();
      await context.expectRefusal("export() of a running session", ["session_busy"], () =>
        context.provider.export(session.handle.sessionId),
      );
    },
  },
  {
    id: "export-unknown",
    tier,
    title: "refuses to export an unknown session with session_not_found",
    run: async (context) => {
      requireExport(context);
      await context.expectRefusal("export() of an unknown session", ["session_not_found"], () =>
        context.provider.export(crypto.randomUUID()),
      );
    },
  },
  {
    id: "import-refuses-garbage",
    tier,
    title: "refuses to import bytes that are not an export with invalid_export",
    run: async (context) => {
      requireExport(context);
      for (const text of ["", "{}", "no session"]) {
        await context.expectRefusal(`import() of "${text}"`, ["invalid_export"], () =>
          context.provider.import(new TextEncoder().encode(text)),
        );
      }
    },
  },
  {
    id: "export-unsupported",
    tier,
    title: "refuses export and import with unsupported if the capability is false",
    run: async (context) => {
      if (context.provider.capabilities.supportsSessionExport)
        throw notApplicable("supportsSessionExport is true");
      const { handle } = await context.recorded();
      await context.expectRefusal("export()", ["unsupported"], () =>
        context.provider.export(handle.sessionId),
      );
      await context.expectRefusal("import()", ["unsupported"], () =>
        context.provider.import(new Uint8Array(1)),
      );
    },
  },
];

function requireExport({ provider }: CheckContext): void {
  if (!provider.capabilities.supportsSessionExport) throw notApplicable("supportsSessionExport is false");
}
