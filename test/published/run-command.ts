import { spawn } from "node:child_process";

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a program to its end. Does not block, so that a registry in this process can answer it. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: RunOptions,
): Promise<Finished> {
  const child = spawn(command, args, {
    cwd,
    // Disables the compile cache, which would leave files behind.
    env: { ...env, NODE_DISABLE_COMPILE_CACHE: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
  });
}

/** Like `run`, but rejects if the program fails. */
export async function runSuccessfully(
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  const { status, stdout, stderr } = await runCommand(command, args, options);
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

/** Runs npm: the one that runs this script, or the one on PATH. On Windows `npm` itself is a batch file. */
export async function runNpm(args: readonly string[], options: RunOptions): Promise<string> {
  const cli = process.env["npm_execpath"];
  if (cli !== undefined) return runSuccessfully(process.execPath, [cli, ...args], options);
  return runSuccessfully(process.platform === "win32" ? "npm.cmd" : "npm", args, options);
}
