import type { Socket } from "node:net";
import { dial } from "./dial.ts";
import type { ProxyListenerOptions } from "./http-listener.ts";
import { dismiss, disconnectSignal, join } from "./open-sockets.ts";
import { readSocksRequest, SOCKS_REPLY, socksReply } from "./socks-request.ts";
import type { Target } from "./verdict.ts";

const HTTPS_PORT = 443;

/** Creates a SOCKS5 proxy for TCP. */
export function socksListener(options: ProxyListenerOptions): (socket: Socket) => void {
  return (socket) => void serve(socket, options).catch(() => socket.destroy());
}

async function serve(socket: Socket, { gatekeeper, sockets, limited }: ProxyListenerOptions): Promise<void> {
  const asked = await readSocksRequest(socket);
  if (asked.kind === "broken") return void socket.destroy();
  if (asked.kind === "refused") return dismiss(socket, asked.reply);
  const { host, port } = asked;
  const client = `${socket.remoteAddress}:${socket.remotePort}`;
  const target: Target = { protocol: "socks5_tcp", host, port, client };
  if (limited && target.port !== HTTPS_PORT) {
    gatekeeper.refuse(target, "method_not_allowed");
    return dismiss(socket, socksReply(SOCKS_REPLY.notAllowed));
  }
  let admission = await gatekeeper.admit(target, disconnectSignal(socket));
  if (admission.allowed && limited) admission = gatekeeper.refuse(target, "mitm_required");
  if (!admission.allowed) return dismiss(socket, socksReply(SOCKS_REPLY.notAllowed));
  const upstream = await dial(admission.addresses, target.port, sockets);
  if (!upstream) return dismiss(socket, socksReply(SOCKS_REPLY.unreachable));
  if (socket.destroyed) return void upstream.destroy();
  socket.write(socksReply(SOCKS_REPLY.granted));
  join(socket, upstream);
}
