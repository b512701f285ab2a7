/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses `4100`, `:4100`, `127.0.0.1:4100` or `[::1]:4100`. Undefined for any other text. The default host is 127.0.0.1. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, host = "", digits = ""] = /^(?:(\[[^\]]+\]|[^:[\]\s]+)?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) return undefined;
  return { host: host.replaceAll(/^\[|\]$/g, "") || "127.0.0.1", port };
}
