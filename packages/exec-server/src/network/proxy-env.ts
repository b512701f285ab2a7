/** Ports of the proxies. Each process has its own network, so the ports are always free. */
export const HTTP_PROXY_PORT = 28_080;
export const SOCKS_PROXY_PORT = 28_081;

const HTTP_URL = `http://127.0.0.1:${HTTP_PROXY_PORT}`;
const SOCKS_URL = `socks5h://127.0.0.1:${SOCKS_PROXY_PORT}`;

// Codex's list, because programs look for different names.
const HTTP_NAMES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "http_proxy",
  "https_proxy",
  "YARN_HTTP_PROXY",
  "YARN_HTTPS_PROXY",
  "npm_config_http_proxy",
  "npm_config_https_proxy",
  "npm_config_proxy",
  "NPM_CONFIG_HTTP_PROXY",
  "NPM_CONFIG_HTTPS_PROXY",
  "NPM_CONFIG_PROXY",
  "BUNDLE_HTTP_PROXY",
  "BUNDLE_HTTPS_PROXY",
  "PIP_PROXY",
  "DOCKER_HTTP_PROXY",
  "DOCKER_HTTPS_PROXY",
  "WS_PROXY",
  "WSS_PROXY",
  "ws_proxy",
  "wss_proxy",
];
const OTHER_NAMES = ["ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy"];
const EXCEPTION_NAMES = [
  "NO_PROXY",
  "no_proxy",
  "npm_config_noproxy",
  "NPM_CONFIG_NOPROXY",
  "BUNDLE_NO_PROXY",
];

/** A process that may listen on its own loopback interface should not use the proxy for it. */
const LOCAL_EXCEPTIONS = "localhost,127.0.0.1,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16";

/**
 * Variables by which programs find their proxy. Security does not depend on them: there is no other way out.
 */
export function proxyEnv(options: {
  readonly enableSocks5: boolean;
  readonly allowLocalBinding: boolean;
}): Readonly<Record<string, string>> {
  const each = (names: readonly string[], value: string): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, value]));
  return {
    CODEX_NETWORK_PROXY_ACTIVE: "1",
    CODEX_NETWORK_ALLOW_LOCAL_BINDING: options.allowLocalBinding ? "1" : "0",
    ELECTRON_GET_USE_PROXY: "true",
    NODE_USE_ENV_PROXY: "1",
    ...each(HTTP_NAMES, HTTP_URL),
    ...each(OTHER_NAMES, options.enableSocks5 ? SOCKS_URL : HTTP_URL),
    ...each(EXCEPTION_NAMES, options.allowLocalBinding ? LOCAL_EXCEPTIONS : ""),
  };
}
