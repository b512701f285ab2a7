/**
 * Node's HTTP module. An import reads all its exports, one of which loads Node's own client for WebSockets and `fetch`. The
 * server does not use that, and it needs 3 MB.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule("node:http");
