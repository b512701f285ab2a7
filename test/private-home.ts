// A vitest global setup: gives the run an empty home folder. Login shells and programs that the tests start would otherwise read
// the user's files. One such file took a lock for 60 s, which made terminal tests fail.
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

const HOME_VARIABLE = process.platform === "win32" ? "USERPROFILE" : "HOME";

export default async function setup(): Promise<() => Promise<void>> {
  // npm keeps the user's settings, such as the registry URL, and cache.
  process.env["npm_config_userconfig"] ??= join(homedir(), ".npmrc");
  process.env["npm_config_cache"] ??= join(homedir(), ".npm");
  const home = await mkdtemp(join(tmpdir(), "home-"));
  process.env[HOME_VARIABLE] = home;
  return () => rm(home, { recursive: true, force: true });
}
