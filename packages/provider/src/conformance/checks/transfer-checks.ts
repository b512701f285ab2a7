import { type Check, notApplicable } from "../check.ts";
import { obeysLaw } from "../law-of-the-stream.ts";
import { failure, holds, within } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "resume";

/** Whether a session can be moved to another provider. */
export const TRANSFER_CHECKS: readonly Check[] = [
  {
    id: "export-moves-session",
    tier,
    title: "goes on with a session that was exported, with a provider that did not have it",
    run: async (bench) => {
      canExport(bench);
      const { remembers, elsewhere } = bench.scenarios;
      if (!remembers || !elsewhere) {
        const missing = remembers ? "elsewhere" : "remembers";
        throw failure(`supportsSessionExport is claimed and not proven: there is no scenario \`${missing}\``);
      }
      const words = bench.nonce();
      const first = await (await bench.spawn(remembers.told(words))).toEnd();
      await first.stop();
      const { sessionId } = first.handle;
      const { callMs } = bench.limits;
      const bytes = await within("export()", callMs, bench.provider.export(sessionId));
      holds(bytes instanceof Uint8Array, "export() should return a Uint8Array");
      const other = await bench.freshProvider(elsewhere);
      await bench.refuses("resume() before the import", ["session_not_found"], () =>
        other.resume(sessionId, remembers.asked()),
      );
      for (const time of ["import()", "a second import()"]) {
        const id = await within(time, callMs, other.import(bytes));
        holds(id === sessionId, `${time} should return "${sessionId}", and returned "${id}"`);
      }
      const session = await (await bench.resume(sessionId, remembers.asked(), {}, other)).toEnd();
      obeysLaw(session);
      holds(session.text.includes(words), `the agent should say "${words}", and said "${session.text}"`);
    },
  },
  {
    id: "export-busy",
    tier,
    title: "refuses to export a session that is at work with session_busy",
    run: async (bench) => {
      canExport(bench);
      const session = await bench.spawn(bench.scenarios.works());
      await session.next();
      await bench.refuses("export() of a session at work", ["session_busy"], () =>
        bench.provider.export(session.handle.sessionId),
      );
    },
  },
  {
    id: "export-unknown",
    tier,
    title: "refuses to export a session that never was with session_not_found",
    run: async (bench) => {
      canExport(bench);
      await bench.refuses("export() of an unknown session", ["session_not_found"], () =>
        bench.provider.export(crypto.randomUUID()),
      );
    },
  },
  {
    id: "import-refuses-garbage",
    tier,
    title: "refuses to import bytes that are no export with invalid_export",
    run: async (bench) => {
      canExport(bench);
      for (const text of ["", "{}", "no session"]) {
        await bench.refuses(`import() of "${text}"`, ["invalid_export"], () =>
          bench.provider.import(new TextEncoder().encode(text)),
        );
      }
    },
  },
  {
    id: "export-denied",
    tier,
    title: "refuses export and import with unsupported where its capability denies them",
    run: async (bench) => {
      if (bench.provider.capabilities.supportsSessionExport)
        throw notApplicable("supportsSessionExport is true");
      const { handle } = await bench.recorded();
      await bench.refuses("export()", ["unsupported"], () => bench.provider.export(handle.sessionId));
      await bench.refuses("import()", ["unsupported"], () => bench.provider.import(new Uint8Array(1)));
    },
  },
];

function canExport({ provider }: Workbench): void {
  if (!provider.capabilities.supportsSessionExport) throw notApplicable("supportsSessionExport is false");
}
