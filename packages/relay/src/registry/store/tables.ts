/** Times are milliseconds since the epoch, by the clock of the store. */
export interface RegistryTables {
  token: TokenRow;
  registration: RegistrationRow;
  connection_grant: GrantRow;
  node: NodeRow;
  secret: { name: string; value: string };
}

export interface TokenRow {
  id: string;
  name: string;
  /** SHA-256 in hexadecimal. */
  hash: string;
  /** A JSON array. */
  scopes: string;
  /** Null for all environments. */
  environment_id: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** The subject on whose behalf a harness connects, and its epoch. Both or neither are set. */
  subject: string | null;
  epoch: number | null;
}

/** An executor that has registered. It is online while `node_id` names a node that is alive. */
export interface RegistrationRow {
  id: string;
  environment_id: string;
  token_id: string;
  /** JSON that harnesses receive. */
  public_key: string;
  ticket_hash: string;
  ticket_expires_at: number;
  registered_at: number;
  node_id: string | null;
  /** Distinguishes the sockets of one registration, so that a late close of the older one changes nothing. */
  connection_id: string | null;
  connected_at: number | null;
}

/** Permission of a harness to connect to a registration: a ticket for the rendezvous and an authorisation for the executor. */
export interface GrantRow {
  id: string;
  environment_id: string;
  registration_id: string;
  token_id: string;
  harness_key_hash: string;
  ticket_hash: string;
  ticket_used_at: number | null;
  authorization_hash: string;
  /** The stream for which the authorisation was used. */
  stream_id: string | null;
  expires_at: number;
}

export interface NodeRow {
  id: string;
  /** The URL at which other nodes reach this one. */
  url: string;
  lease_until: number;
  started_at: number;
}
