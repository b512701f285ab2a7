// `npm start`: starts the daemon, shows a short turn, and prints what to try. With a terminal it serves until Ctrl-C.
import { DaemonClient } from "@codexkit/daemon/client";
import { discoverCredentials } from "codexkit";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { styleText } from "node:util";

const root = join(import.meta.dirname, "..");
const cli = join(root, "packages/cli/bin/codexkit.mjs");
const PORT = 4100;
const PROMPT = "Show me that you are alive: print the name of this folder.";

const ASKING_PROMPT = "Ask me for an approval, please.";
/** How long the demo waits for an answer to the approval, which exists only to be seen. */
const ASKING_MS = 30_000;

interface Served {
  readonly url: string;
  readonly consoleUrl: string | null;
  readonly tokenFile: string;
}

/** Resolves to undefined if the daemon ended before it listened. */
async function serve(
  args: readonly string[],
  port: number,
): Promise<{ child: ChildProcess; served?: Served }> {
  const child = spawn(
    process.execPath,
    [cli, "serve", "--json", "--root", root, "--listen", `127.0.0.1:${port}`, ...args],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = once(child, "close").then(() => undefined);
  const line = once(createInterface(child.stdout), "line").then(([text]) => String(text));
  const text = await Promise.race([line, ended]);
  return text === undefined ? { child } : { child, served: JSON.parse(text) as Served };
}

const { kind } = await discoverCredentials();
const isDemo = kind !== "apiKey" && kind !== "chatgpt";
const args = isDemo ? ["--demo"] : [];

const { child, served } = await serve(args, (await isFree(PORT)) ? PORT : 0);
if (!served) process.exit(child.exitCode ?? 1);

// Ctrl-C reaches the daemon too: it ends its sessions, and this program ends after it.
let isEnding = false;
const ended = once(child, "close");
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isEnding = true;
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}

try {
  const sessionId = await runDemoTurn(served);
  if (isDemo && !isEnding) await openApproval(served);
  if (!isEnding) printHints(served, sessionId);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
if (!process.stdin.isTTY || !process.stdout.isTTY || process.exitCode) child.kill("SIGTERM");
await ended;
process.exit(process.exitCode ?? 0);

/** Resolves to the ID of the session. */
async function runDemoTurn({ url, tokenFile }: Served): Promise<string> {
  const client = new DaemonClient({ url, token: readFileSync(tokenFile, "utf8").trim() });
  const { session } = await client.createSession(
    { cwd: root, name: "npm start", permissionMode: "read-only" },
    { wait: 30_000 },
  );
  await client.send(session.id, PROMPT, { wait: 30_000 });
  // stdin stays with this program, so that the follower only prints the turn.
  const follower = spawn(
    process.execPath,
    [cli, "attach", "--once", session.id, "--url", url, "--token-file", tokenFile],
    {
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const [code] = (await once(follower, "close")) as [number | null];
  if (code !== 0 && !isEnding) throw new Error("The demo turn failed.");
  return session.id;
}

/** Leaves an approval in the inbox, for the console and `codexkit inbox`. */
async function openApproval({ url, tokenFile }: Served): Promise<void> {
  const client = new DaemonClient({ url, token: readFileSync(tokenFile, "utf8").trim() });
  const { session } = await client.createSession(
    { cwd: root, name: "An approval to answer", permissionMode: "read-only" },
    { wait: ASKING_MS },
  );
  await client.send(session.id, ASKING_PROMPT);
  for await (const event of client.sessionEvents(session.id, { signal: AbortSignal.timeout(ASKING_MS) })) {
    if (event.type === "inbox.opened" || event.type === "turn.completed" || event.type === "turn.failed")
      return;
  }
}

function printHints({ url, consoleUrl, tokenFile }: Served, sessionId: string): void {
  const bold = (text: string): string => styleText("bold", text, { stream: process.stdout });
  const token = readFileSync(tokenFile, "utf8").trim();
  console.log(`
${bold("The daemon is running.")}${isDemo ? " No credentials were found, so the model is a script; Codex and its commands are real." : ""}

${consoleUrl === null ? "" : `${bold("Open the web console")} (the link works once):\n\n  ${consoleUrl}\n\n`}  URL    ${url}
  token  ${token}

${bold("Try it in another terminal:")}

  alias codexkit="${join(root, "node_modules/.bin/node")} ${cli}"
  codexkit sessions
  codexkit attach ${sessionId}
  codexkit inbox
  codexkit console
  codexkit run${isDemo ? " --demo" : ""} "What is in this folder?"
  codexkit policy check "npm test && git push --force"
  codexkit doctor

  curl -H "Authorization: Bearer ${token}" ${url}/sessions
  curl -N -H "Authorization: Bearer ${token}" ${url}/events
`);
  if (process.stdin.isTTY && process.stdout.isTTY) console.log("Press Ctrl-C to end everything.");
}

async function isFree(port: number): Promise<boolean> {
  const { createServer } = await import("node:net");
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
