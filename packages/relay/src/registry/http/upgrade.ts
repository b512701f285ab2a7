import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { StoreError } from "@codexkit/store";
import { type WebSocket, WebSocketServer } from "ws";
import type { AuditEvent, AuditLog } from "../audit-log.ts";
import type { RegistryLimits } from "../limits.ts";
import type { LinkTokenVerifier } from "../nodes/link-token.ts";
import { NODE_LINK_PATH, type NodeLinks } from "../nodes/node-links.ts";
import type { HarnessIdentity } from "../rendezvous/harness-connection.ts";
import type { Rendezvous } from "../rendezvous/rendezvous.ts";
import type { RegistryStore } from "../store/registry-store.ts";
import type { Access } from "./access.ts";
import { problemBody, RegistryProblem } from "./registry-problem.ts";

export interface UpgradeServices {
  readonly store: RegistryStore;
  readonly rendezvous: Rendezvous;
  readonly links: NodeLinks;
  readonly linkTokens: LinkTokenVerifier;
  readonly nodeId: string;
  readonly access: Access;
  readonly audit: AuditLog;
  readonly limits: RegistryLimits;
  readonly onWarning: (error: unknown) => void;
  readonly isClosing: () => boolean;
}

interface Incoming {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly address: string;
}

export interface UpgradeHandler {
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Resolves when the end of every closed socket is stored. */
  readonly settled: () => Promise<void>;
}

/** Upgrades the sockets of executors, of harnesses, and of harnesses that are connected to another node. */
export function createUpgradeHandler(services: UpgradeServices): UpgradeHandler {
  const { store, rendezvous, links, linkTokens, nodeId, access, audit, limits } = services;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    clientTracking: false,
    autoPong: false,
  });
  const ends = new Set<Promise<void>>();

  async function upgradeExecutor(incoming: Incoming, ticket: string): Promise<void> {
    const registration = await store.registrations.findByTicket(ticket);
    if (!registration) throw wrongCredential(access, incoming.address);
    const identity = {
      registrationId: registration.id,
      environmentId: registration.environment_id,
      tokenId: registration.token_id,
      connectionId: randomUUID(),
    };
    if (!rendezvous.canAddExecutor(identity)) {
      throw new RegistryProblem("too_many_executors", "The environment has too many executors.");
    }
    accept(incoming, (webSocket) => {
      const { registrationId, connectionId } = identity;
      const ended = Promise.withResolvers<void>();
      const executor = rendezvous.addExecutor(identity, webSocket, incoming.socket, ended.resolve);
      record("executor.connected", identity, incoming);
      // One after the other, because a late attach would leave the executor online after its end.
      const attached = store.registrations.attach(registrationId, nodeId, connectionId).then(
        () => (executor.isAttached = true),
        (error: unknown) => {
          services.onWarning(error);
          executor.socket.close(1013, "try again later");
        },
      );
      const end = Promise.all([attached, ended.promise])
        .then(async () => {
          record("executor.disconnected", identity, incoming);
          await store.registrations.detach(registrationId, connectionId);
        })
        .catch(services.onWarning)
        .finally(() => ends.delete(end));
      ends.add(end);
    });
  }

  async function upgradeHarness(incoming: Incoming, ticket: string): Promise<void> {
    const grant = await store.grants.useTicket(ticket);
    if (!grant) throw wrongCredential(access, incoming.address);
    const identity: HarnessIdentity = {
      grantId: grant.id,
      environmentId: grant.environment_id,
      registrationId: grant.registration_id,
      tokenId: grant.token_id,
      harnessKeyHash: grant.harness_key_hash,
    };
    if (rendezvous.findExecutor(identity.registrationId)) return attachHarness(incoming, identity);
    const target = await store.registrations.locate(identity.registrationId);
    if (!target || target.nodeId === nodeId) throw offline();
    const onClose = (): void => record("harness.disconnected", identity, incoming);
    if (!(await links.open(target, identity, incoming, onClose))) throw offline();
    record("harness.connected", identity, incoming);
  }

  function attachHarness(incoming: Incoming, identity: HarnessIdentity): void {
    const executor = rendezvous.findExecutor(identity.registrationId);
    if (!executor) throw offline();
    if (!executor.usage.canAddHarness) {
      throw new RegistryProblem("too_many_connections", "The environment has too many harnesses.");
    }
    accept(incoming, (webSocket) => {
      record("harness.connected", identity, incoming);
      rendezvous.addHarness(identity, executor, webSocket, incoming.socket, () =>
        record("harness.disconnected", identity, incoming),
      );
    });
  }

  async function upgrade(incoming: Incoming): Promise<void> {
    const { request, address } = incoming;
    if (services.isClosing()) throw closing();
    if (request.headers.origin !== undefined) {
      throw new RegistryProblem("forbidden", "Requests of web pages are refused.");
    }
    const url = URL.parse(request.url ?? "", "ws://localhost");
    const ticket = url?.searchParams.get("ticket") ?? "";
    if (url?.pathname === "/rendezvous/executor") return upgradeExecutor(incoming, ticket);
    if (url?.pathname === "/rendezvous/harness") return upgradeHarness(incoming, ticket);
    if (url?.pathname !== NODE_LINK_PATH) {
      throw new RegistryProblem("not_found", "There is no WebSocket at this path.");
    }
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const identity = await linkTokens.verify(token);
    if (!identity) throw wrongCredential(access, address);
    return attachHarness(incoming, identity);
  }

  /** ws answers a request that is not a valid upgrade. */
  function accept({ request, socket, head }: Incoming, onOpen: (webSocket: WebSocket) => void): void {
    // The registry may have started to close while the credential was looked up.
    if (services.isClosing()) throw closing();
    if (!socket.destroyed) server.handleUpgrade(request, socket, head, onOpen);
  }

  function record(
    event: AuditEvent,
    identity: { environmentId: string; registrationId: string; tokenId: string; grantId?: string },
    { address }: Incoming,
  ): void {
    const { environmentId, registrationId, tokenId, grantId } = identity;
    audit.record({
      event,
      environment: environmentId,
      registration: registrationId,
      token: tokenId,
      grant: grantId,
      address,
    });
  }

  function onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const connection = socket as Socket;
    const incoming = { request, socket, head, address: connection.remoteAddress ?? "unknown" };
    // Stays for the life of the socket: a client may reset the connection while a refusal is being written, and an error without
    // a listener would end the process.
    socket.on("error", () => socket.destroy());
    connection.setNoDelay(true);
    upgrade(incoming)
      .catch((error: unknown) => {
        const problem = toProblem(error);
        if (problem.code === "internal") services.onWarning(error);
        rendezvous.counters.refuse(problem.code);
        audit.recordRefusal({ address: incoming.address, reason: problem.code });
        refuse(socket, problem);
      })
      .catch(() => socket.destroy());
  }

  return {
    onUpgrade,
    settled: async () => {
      await Promise.all(ends);
    },
  };
}

function closing(): RegistryProblem {
  return new RegistryProblem("unavailable", "The registry is shutting down.");
}

function offline(): RegistryProblem {
  return new RegistryProblem("environment_offline", "The executor is not connected.");
}

/** After a 401, an executor registers again, and a harness requests a new URL. */
function wrongCredential(access: Access, address: string): RegistryProblem {
  return (
    access.countFailure(address) ??
    new RegistryProblem("unauthorized", "The credential of this URL is unknown, used or expired.")
  );
}

function toProblem(error: unknown): RegistryProblem {
  if (error instanceof RegistryProblem) return error;
  if (StoreError.is(error)) return new RegistryProblem("unavailable", "The store can't be reached.");
  return new RegistryProblem("internal", "The upgrade failed.");
}

function refuse(socket: Duplex, problem: RegistryProblem): void {
  const body = Buffer.from(problemBody(problem));
  // A client that does not close its side would keep the connection open.
  socket.once("finish", () => socket.destroy());
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}`,
      "content-type: application/json",
      `content-length: ${body.length}`,
      "connection: close",
      "",
      body.toString(),
    ].join("\r\n"),
  );
}
