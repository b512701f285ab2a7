import type {
  ClientNotifications,
  ClientRequests,
  ServerNotifications,
  ServerRequests,
} from "./generated/tables.ts";

/** A client's end of the wire: what it calls, sends, answers and receives. */
export interface ClientWire {
  calls: ClientRequests;
  sends: ClientNotifications;
  answers: ServerRequests;
  receives: ServerNotifications;
}

/** The app-server's end: the same tables, the other way round. */
export interface ServerWire {
  calls: ServerRequests;
  sends: ServerNotifications;
  answers: ClientRequests;
  receives: ClientNotifications;
}
