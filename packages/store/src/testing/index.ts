import "../require-node.ts";

// A real Postgres, and empty stores of both kinds.
export { PostgresServer, type PostgresServerOptions } from "./postgres-server.ts";
export { STORE_KINDS, TestLocations } from "./test-locations.ts";
