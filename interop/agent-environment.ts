import { delimiter, dirname } from "node:path";

/** Variables that programs need to run. */
const KEPT = new Set(["LANG", "LC_ALL", "TZ", "SystemRoot", "ComSpec", "PATHEXT"]);

/** Port 9 (discard) is usually closed: programs that honour a proxy can't leave loopback. */
const CLOSED_PORT = "http://127.0.0.1:9";

/**
 * The environment of an agent, without the user's keys, homes and settings, and without network access for programs that honour a
 * proxy. Undefined removes a variable of this process.
 */
export function agentEnvironment(
  home: string,
  temp: string,
  own: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const cleared = Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => !KEPT.has(name))
      .map((name) => [name, undefined]),
  );
  const proxies = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  return {
    ...cleared,
    ...Object.fromEntries(proxies.map((name) => [name, CLOSED_PORT])),
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    // The current Node comes first: some agents start programs with `node`.
    PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_DATA_HOME: `${home}/.local/share`,
    XDG_STATE_HOME: `${home}/.local/state`,
    XDG_CACHE_HOME: `${home}/.cache`,
    TMPDIR: temp,
    ...own,
  };
}
