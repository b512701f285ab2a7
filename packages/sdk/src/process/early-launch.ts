import { type LaunchAppServerOptions, launchAppServer, type LaunchedAppServer } from "./launch-app-server.ts";

/** Servers that were launched before the SDK was loaded, by the options of the `Codex.launch` that will use them. */
const launches = new WeakMap<object, Promise<LaunchedAppServer>>();

/**
 * Launches a server for the `Codex.launch` that will be called with the object `key` as its options. Resolves once its
 * process is spawned, or can't be.
 */
export async function launchEarly(key: object, options: LaunchAppServerOptions): Promise<void> {
  const { promise: spawned, resolve } = Promise.withResolvers<void>();
  const launch = launchAppServer({
    ...options,
    onSpawn: (child) => {
      resolve();
      options.onSpawn?.(child);
    },
  });
  launches.set(key, launch);
  // A failure is reported by the `Codex.launch` that takes the server.
  await Promise.race([spawned, launch.catch(() => {})]);
}

/** Returns the server that was launched for these options, if any. Only once: after a crash, another is launched. */
export function takeEarlyLaunch(key: object): Promise<LaunchedAppServer> | undefined {
  const launch = launches.get(key);
  launches.delete(key);
  return launch;
}
