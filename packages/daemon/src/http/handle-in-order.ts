import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Handles the requests of a connection one after the other. Node hands out pipelined requests at once, although their responses
 * have to wait for each other: those behind an event stream would keep their events in memory for as long as it is open.
 *
 * @param maxWaiting Requests that may wait. One more ends the connection, because no response can be sent before theirs.
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
