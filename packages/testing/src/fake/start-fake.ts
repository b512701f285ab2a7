import type { ClientWire } from "@codexkit/protocol";
import { Peer, type PeerOptions } from "@codexkit/rpc";
import { ChildTransport, OwnedProcess } from "codexkit/process";
import { join } from "node:path";
import type { FakeBehaviour } from "./behaviour.ts";

/** The command line of a fake app-server, for programs that launch one themselves. */
export function fakeAppServerCommand(behaviour: FakeBehaviour = {}): { command: string; args: string[] } {
  return {
    command: process.execPath,
    args: [join(import.meta.dirname, `program${import.meta.filename.slice(-3)}`), JSON.stringify(behaviour)],
  };
}

export interface FakeAppServer extends AsyncDisposable {
  readonly peer: Peer<ClientWire>;
  readonly process: OwnedProcess;
  /** Releases the fake from `waitForGo`. */
  go(): Promise<void>;
}

/** Starts a fake app-server and connects a peer to it, without a handshake. */
export function startFakeAppServer(behaviour: FakeBehaviour = {}, options: PeerOptions = {}): FakeAppServer {
  const owned = new OwnedProcess(fakeAppServerCommand(behaviour));
  const peer = new Peer<ClientWire>(new ChildTransport(owned), options);
  return {
    peer,
    process: owned,
    go: () => (peer as unknown as Peer).notify("fake/go"),
    [Symbol.asyncDispose]: async () => {
      await peer.close();
      await owned.stop("SIGKILL");
    },
  };
}
