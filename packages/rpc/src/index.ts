// A bidirectional JSON-RPC peer without the `jsonrpc` member, and its transports. Knows nothing about Codex.
import "./require-node.ts";

// The peer and the types of its contract.
export { Peer, type PeerOptions } from "./peer.ts";
export type { CallOptions } from "./outgoing-calls.ts";
export { type RequestContext, UNANSWERED } from "./incoming-requests.ts";
export type { AnyWire, MethodOf, ParamsArgument, ParamsOf, ResultOf, Wire } from "./wire.ts";
export { type NotificationMessage, RawJson, type RequestId, type RequestMessage } from "./message.ts";

// Errors and limits.
export { RemoteError, RequestFailure, RPC_CODES, RpcError, type RpcErrorCode } from "./errors.ts";
export { RPC_LIMITS, type RpcLimits } from "./limits.ts";

// Transports: lines over streams, WebSocket (TCP and unix sockets), and connected pairs in memory.
export type { Transport, TransportReceiver } from "./transport.ts";
export { NdjsonTransport, type NdjsonTransportOptions } from "./ndjson-transport.ts";
export { WebSocketTransport } from "./websocket-transport.ts";
export { answerPings } from "./answer-pings.ts";
export { startHeartbeat } from "./heartbeat.ts";
export { connectWebSocket, type ConnectWebSocketOptions } from "./connect-websocket.ts";
export { memoryTransportPair } from "./memory-transport.ts";

// The address of a server, as command lines name it, and a check of paths.
export { type ListenAddress, parseListenAddress } from "./listen-address.ts";
export { isInside } from "./is-inside.ts";

// A listening HTTP server that closes gracefully.
export { HttpServer } from "./http-server.ts";

// The line splitter, for programs that read lines without a peer.
export { LineSplitter } from "./line-splitter.ts";
