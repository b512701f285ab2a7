import { isIP } from "node:net";
import { RelayError } from "../errors.ts";

/** The hosts that may receive an OpenAI API key. Codex has the same rule. */
const API_KEY_HOST = /^(?:.+\.)?openai\.(?:com|org)$/;

export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Throws unless the URL may receive an API key. Other registries with the same protocol must not receive it. */
export function assertApiKeyHost(url: string, what: string): void {
  const { protocol, hostname } = new URL(url);
  if (isLoopbackHost(hostname) || (protocol === "https:" && API_KEY_HOST.test(hostname))) return;
  throw new RelayError(
    "bad_option",
    `${what} is only sent to https hosts of openai.com and openai.org, and to loopback addresses, not to ${hostname}. ` +
      "Use CODEXKIT_RELAY_TOKEN or --token-file for a registry of your own.",
  );
}

/** Parses the URL of a registry. With plain HTTP, tokens could be read in the network, except on this machine. */
export function parseRegistryUrl(url: string, allowInsecureHttp: boolean, flag = "--remote"): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== "") {
    throw new RelayError(
      "bad_option",
      `${flag} expects an http or https URL without credentials, but received "${url}".`,
    );
  }
  if (parsed.search !== "" || parsed.hash !== "") {
    throw new RelayError(
      "bad_option",
      `${flag} expects a URL without a query and a fragment, but received "${url}".`,
    );
  }
  if (parsed.protocol === "http:" && !allowInsecureHttp && !isLoopbackHost(parsed.hostname)) {
    throw new RelayError(
      "bad_option",
      `${flag} ${url}: plain HTTP would show tokens to the network. Use https, or --allow-insecure-http in a network that you trust.`,
    );
  }
  parsed.pathname = parsed.pathname.replace(/\/+$/, "");
  return parsed;
}
