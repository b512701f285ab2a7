import { fork } from "node:child_process";
import { once } from "node:events";
import type { PostgresServer } from "@codexkit/store/testing";
import { quantile } from "./quantile.ts";

const EVENTS = 64_000;
/** Total events per second of all processes. */
const PACE = 20_000;

/**
 * Measures processes that append to one Postgres: the duration of an append at a steady rate, then the total events per second.
 */
export async function appendFromAll(
  server: PostgresServer,
  nodes: number,
): Promise<{ readonly throughput: number; readonly "stored p99": number }> {
  const location = await server.createDatabase();
  await using stack = new AsyncDisposableStack();
  const children = [];
  for (let number = 1; number <= nodes; number += 1) {
    const child = fork(
      new URL("append-program.ts", import.meta.url),
      [location, `node-${number}`, `${EVENTS / nodes}`, `${PACE / nodes}`],
      { execArgv: ["--conditions=codexkit:source"], stdio: ["ignore", "inherit", "inherit", "ipc"] },
    );
    const exited = once(child, "exit");
    stack.defer(async () => {
      if (child.connected) child.send("close");
      await exited;
    });
    const answer = async (): Promise<unknown> => {
      const failed = exited.then(() => Promise.reject(new Error("A node ended.")));
      failed.catch(() => {});
      const [{ result }] = (await Promise.race([once(child, "message"), failed])) as [{ result: unknown }];
      return result;
    };
    await answer();
    children.push({
      ask: (step: "append" | "pace") => {
        const answered = answer();
        child.send(step);
        return answered;
      },
    });
  }
  const times = (await Promise.all(children.map(({ ask }) => ask("pace")))) as number[][];
  const begin = performance.now();
  await Promise.all(children.map(({ ask }) => ask("append")));
  const throughput = (EVENTS * 1_000) / (performance.now() - begin);
  return { throughput, "stored p99": quantile(times.flat(), 0.99) };
}
