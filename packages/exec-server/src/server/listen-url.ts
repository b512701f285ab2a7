import { isIP } from "node:net";
import { ExecError } from "../errors.ts";

export type ListenAddress =
  | { readonly kind: "stdio" }
  | { readonly kind: "none" }
  | { readonly kind: "ws"; readonly host: string; readonly port: number };

export const DEFAULT_LISTEN_URL = "ws://127.0.0.1:0";

const MAX_PORT = 65_535;

/**
 * Parses `ws://IP:PORT`, `stdio`, `stdio://` or `none`. Refuses host names, because the address that they
 * resolve to is not known in advance.
 */
export function parseListenUrl(url: string): ListenAddress {
  if (url === "stdio" || url === "stdio://") return { kind: "stdio" };
  if (url === "none") return { kind: "none" };
  const found = /^ws:\/\/(?:\[(?<six>[^\]]+)\]|(?<four>[^:/]+)):(?<port>\d{1,5})\/?$/.exec(url)?.groups;
  const host = found?.["six"] ?? found?.["four"] ?? "";
  const port = Number(found?.["port"]);
  if (isIP(host) === 0 || port > MAX_PORT) {
    throw new ExecError(
      "bad_option",
      `--listen expects ws://IP:PORT, stdio or stdio://, but received "${url}".`,
    );
  }
  return { kind: "ws", host, port };
}

export function isLoopback(host: string): boolean {
  return host === "::1" || host.startsWith("127.") || /^::ffff:127\./i.test(host);
}

export function webSocketUrl(host: string, port: number): string {
  return `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
