import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

export interface NodeChild extends AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly exited: Promise<number | null>;
}

/** A Node process that runs `script`, with pipes. It ends with the test. */
export function nodeChild(script: string): NodeChild {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return {
    process: child,
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A child script that calls `answer(message)` for each line; `say(value)` writes one. */
export function lineScript(answer: string): string {
  return `
    import { createInterface } from "node:readline";
    const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
    const answer = ${answer};
    createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
  `;
}
