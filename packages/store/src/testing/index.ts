import "../require-node.ts";

// A real Postgres, a bad network before it, and empty stores of both kinds.
export { PostgresProxy, type ProxyAction, type ServerMessage } from "./postgres-proxy.ts";
export { PostgresServer, type PostgresServerOptions } from "./postgres-server.ts";
export { STORE_KINDS, TestLocations } from "./test-locations.ts";
