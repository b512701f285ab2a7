import "../require-node.ts";

// A real Postgres, a proxy that simulates a bad network, and empty stores of both kinds.
export { FaultProxy, type FaultMode, type FaultProxyOptions, type Filtered } from "./fault-proxy.ts";
export {
  PostgresProxy,
  type PostgresProxyOptions,
  type ProxyAction,
  type ServerMessage,
} from "./postgres-proxy.ts";
export { PostgresServer, type PostgresServerOptions } from "./postgres-server.ts";
export { TransactionPooler } from "./transaction-pooler.ts";
export { STORE_KINDS, TestLocations } from "./test-locations.ts";
