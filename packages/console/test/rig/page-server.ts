/** A daemon that a page is opened at. */
export interface PageServer {
  readonly url: string;
  /** A token that the browser logs in with. Undefined: the daemon works without tokens. */
  readonly token?: string | undefined;
}
