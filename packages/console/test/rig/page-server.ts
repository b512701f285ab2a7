/** A daemon that a page is opened at. */
export interface PageServer {
  readonly url: string;
  /** A token that the browser logs in with. Undefined: the daemon works without tokens. */
  readonly token?: string | undefined;
  /** What reads from the server, such as its pages. The server disposes of it first, so that its end is not a lost connection. */
  readonly readers: AsyncDisposableStack;
}
