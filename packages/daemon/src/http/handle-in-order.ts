import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Handles the requests of a connection in order. Node emits pipelined requests at once although their responses are
 * sent in order, so requests after an event stream would hold their events in memory while it is open.
 *
 * @param maxWaiting Maximum number of waiting requests. A further request closes the connection, because it can't be
 * answered before the others.
 */
export function handleInOrder(listener: NodeHandler, maxWaiting: number): NodeHandler {
  const connections = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const handle = (): void => {
      response.once("close", () => {
        const next = socket.destroyed ? undefined : connections.get(socket)?.shift();
        if (next) next();
        else connections.delete(socket);
      });
      listener(request, response);
    };
    const waiting = connections.get(socket);
    if (!waiting) {
      connections.set(socket, []);
      handle();
    } else if (waiting.length < maxWaiting) {
      waiting.push(handle);
    } else {
      socket.destroy();
    }
  };
}
