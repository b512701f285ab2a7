/** A result with one large base64 member, kept as bytes until it is sent. All text in it is ASCII. */
export class LargeResult {
  readonly before: string;
  readonly bytes: Buffer;
  readonly after: string;

  constructor(before: string, bytes: Buffer, after: string) {
    this.before = before;
    this.bytes = bytes;
    this.after = after;
  }
}
