// The real codex at both ends of a relay.
import { findCodex, OwnedProcess, startAppServer, tempFolder, type AppServer } from "@codexkit/testing";
import type { Script } from "@codexkit/scripted-model";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

export interface RealEndOptions {
  /** The base URL of the registry. */
  readonly registryUrl: string;
  readonly environmentId: string;
  readonly token: string;
}

/** Codex's own executor: `codex exec-server --remote`. */
export async function startRealExecutor({
  registryUrl,
  environmentId,
  token,
}: RealEndOptions): Promise<AsyncDisposable & { readonly process: OwnedProcess }> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await tempFolder("executor-home"));
  const owned = new OwnedProcess({
    command: findCodex().path,
    args: ["exec-server", "--remote", registryUrl, "--environment-id", environmentId],
    // A home of its own: Codex writes to it, and commands run in login shells, whose profile may take long.
    env: {
      ...process.env,
      CODEX_HOME: home.path,
      HOME: home.path,
      TMPDIR: home.path,
      CODEX_API_KEY: token,
      SSL_CERT_FILE: await writeCertificate(home.path),
    },
  });
  stack.defer(() => owned.stop("SIGTERM"));
  const owner = stack.move();
  return { process: owned, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

/** Codex's own exec-server on a WebSocket, for `forward`. */
export async function startRealExecServer(): Promise<AsyncDisposable & { readonly url: string }> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await tempFolder("exec-server-home"));
  const owned = new OwnedProcess({
    command: findCodex().path,
    args: ["exec-server"],
    env: { ...process.env, CODEX_HOME: home.path, HOME: home.path, TMPDIR: home.path },
  });
  stack.defer(() => owned.stop("SIGTERM"));
  const ended = owned.ended.then((end) => Promise.reject(new Error(owned.describeEnd(end))));
  ended.catch(() => {});
  const [line] = (await Promise.race([once(owned.child.stdout, "data"), ended])) as [Buffer];
  const owner = stack.move();
  return { url: String(line).trim(), [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

/** Codex's own harness: `codex app-server` with the variables of the relay, on a scripted model. */
export async function startRealHarness(
  { registryUrl, environmentId, token }: RealEndOptions,
  model: Script,
): Promise<AppServer> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await tempFolder("harness-certificates"));
  const app = stack.use(
    await startAppServer({
      model,
      env: {
        CODEX_EXEC_SERVER_NOISE_REGISTRY_URL: registryUrl,
        CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID: environmentId,
        CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: token,
        SSL_CERT_FILE: await writeCertificate(folder.path),
      },
    }),
  );
  const owner = stack.move();
  return { ...app, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

/** Codex creates no HTTP client for the registry if it finds no certificate at all. */
async function writeCertificate(folder: string): Promise<string> {
  const file = join(folder, "certificate.pem");
  await writeFile(file, rootCertificates[0] ?? "");
  return file;
}
