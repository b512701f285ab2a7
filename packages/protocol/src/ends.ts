import type {
  ClientNotifications,
  ClientRequests,
  ServerNotifications,
  ServerRequests,
} from "./generated/tables.ts";

/** A client's end of the wire: what it calls, sends, answers and hears. */
export interface ClientWire {
  calls: ClientRequests;
  sends: ClientNotifications;
  answers: ServerRequests;
  hears: ServerNotifications;
}

/** The app-server's end: the same tables, the other way round. */
export interface ServerWire {
  calls: ServerRequests;
  sends: ServerNotifications;
  answers: ClientRequests;
  hears: ClientNotifications;
}
