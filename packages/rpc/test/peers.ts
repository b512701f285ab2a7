import { rawEnd } from "./raw-end.ts";
import {
  memoryTransportPair,
  Peer,
  type PeerOptions,
  type RpcError,
  type Transport,
  type TransportReceiver,
} from "../src/index.ts";

/** A peer, and the other end of its connection, which the test uses directly. */
export function peerAndEnd(options?: PeerOptions) {
  const [left, right] = memoryTransportPair();
  const peer = new Peer(left, options);
  const anomalies: RpcError[] = [];
  peer.onAnomaly((error) => anomalies.push(error));
  return { peer, end: rawEnd(right), anomalies };
}

export function twoPeers(options?: PeerOptions): [Peer, Peer] {
  const [left, right] = memoryTransportPair();
  return [new Peer(left, options), new Peer(right, options)];
}

/** A transport that the test controls. */
export class HandTransport implements Transport {
  receiver: TransportReceiver | undefined;
  readonly sent: string[] = [];
  closes = 0;
  onSend: (message: string) => Promise<void> | undefined = () => undefined;

  start(receiver: TransportReceiver): void {
    this.receiver = receiver;
  }

  send(message: string): Promise<void> | undefined {
    const drained = this.onSend(message);
    this.sent.push(message);
    return drained;
  }

  close(): Promise<void> {
    this.closes += 1;
    return Promise.resolve();
  }
}
