import type {
  ClientNotifications,
  ClientRequests,
  ServerNotifications,
  ServerRequests,
} from "./generated/tables.ts";

/** The client's end of a connection: the methods that it calls, sends, answers and receives. */
export interface ClientWire {
  calls: ClientRequests;
  sends: ClientNotifications;
  answers: ServerRequests;
  receives: ServerNotifications;
}

/** The app-server's end of a connection: the same tables with the directions reversed. */
export interface ServerWire {
  calls: ServerRequests;
  sends: ServerNotifications;
  answers: ClientRequests;
  receives: ClientNotifications;
}
