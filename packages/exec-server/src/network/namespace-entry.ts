// The first program in a sandbox whose only way out is a proxy. It opens the listeners (sockets that listen
// in the sandbox's own network), passes them to the server, and executes the command in its own process. It
// is started by its path and imports nothing from outside this package's own folder, because nothing else may
// be readable in a sandbox.
import { once } from "node:events";
import { createServer } from "node:net";
import { findProgram } from "../process/find-program.ts";
import type { EntryOrder } from "../process/launch-order.ts";

/** Exit code of a shell that can't run a command. */
const NOT_FOUND_EXIT = 127;

const [arg0, ...argv] = process.argv.slice(2);

async function openListener(name: string, port: number): Promise<void> {
  const listener = createServer();
  listener.listen(port, "127.0.0.1");
  await once(listener, "listening");
  process.send?.(name, listener);
}

function become(env: EntryOrder["env"]): void {
  const [name = ""] = argv;
  // Node ignores these signals. Ignored signals stay ignored after exec; handled ones are reset.
  for (const signal of ["SIGPIPE", "SIGXFSZ"] as const) process.on(signal, () => {});
  const program = findProgram(name, process.cwd(), env);
  const named = arg0 === undefined || arg0 === "" ? argv : argv.with(0, arg0);
  // Bubblewrap sets it in all other sandboxes.
  process.execve?.(program, named, { ...env, PWD: process.cwd() });
}

function fail(error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException;
  process.stderr.write(`${argv[0] ?? "sandbox"}: ${code ?? message}\n`);
  process.exit(NOT_FOUND_EXIT);
}

process.once("message", ({ env, listeners }: EntryOrder) => {
  // The channel closes when the server has received every listener. Before that, a first request could remain
  // unanswered.
  process.once("disconnect", () => {
    try {
      become(env);
    } catch (error) {
      fail(error);
    }
  });
  Promise.all(listeners.map(({ name, port }) => openListener(name, port))).catch(fail);
});
