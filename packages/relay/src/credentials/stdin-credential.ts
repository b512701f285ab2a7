import { LineSplitter } from "@codexkit/rpc";
import { raceAbort } from "@codexkit/rpc/async";
import type { Readable } from "node:stream";
import { z } from "zod";
import { RelayError } from "../errors.ts";
import { bearerHeaders, type RelayCredential, type UnsignedRequest } from "./credential.ts";

const frameSchema = z.strictObject({
  version: z.literal(1),
  environment_id: z.string(),
  token: z.string().min(1),
  /** Unix seconds. */
  expires_at: z.int().nonnegative(),
});

type CredentialFrame = z.infer<typeof frameSchema>;

/** Much longer than a token with many claims. */
const FRAME_BYTES = 64 * 1024;

/**
 * Tokens that a parent process writes as lines of JSON. A new line replaces the token. Requests wait for a token that has not
 * expired.
 */
export class StdinCredential implements RelayCredential {
  /** Resolves when the pipe has closed: the parent wants this process to end. Rejects if it sent an invalid frame. */
  readonly closed: Promise<void>;
  readonly #environmentId: string;
  readonly #now: () => number;
  readonly #end = Promise.withResolvers<void>();
  #frame: CredentialFrame | undefined;
  #next = Promise.withResolvers<void>();

  constructor(input: Readable, environmentId: string, now: () => number = Date.now) {
    this.#environmentId = environmentId;
    this.#now = now;
    this.closed = this.#end.promise;
    this.closed.catch(() => {});
    this.#next.promise.catch(() => {});
    const lines = new LineSplitter(FRAME_BYTES, (line) => this.#receive(line));
    input.on("data", (bytes: Buffer) => {
      try {
        lines.push(bytes);
      } catch (error) {
        this.#fail(RelayError.is(error) ? error : invalidFrame());
        input.destroy();
      }
    });
    input.on("end", () => this.#close());
    input.on("close", () => this.#close());
    input.on("error", () => this.#close());
  }

  async authorize(_request: UnsignedRequest, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    for (;;) {
      const frame = this.#frame;
      if (frame && frame.expires_at * 1000 > this.#now()) return bearerHeaders(frame.token);
      await raceAbort(this.#next.promise, signal);
    }
  }

  #receive(line: string): void {
    if (line.trim() === "") return;
    const frame = parseFrame(line);
    if (frame.environment_id !== this.#environmentId) {
      throw new RelayError(
        "bad_option",
        `--executor-credential-stdin: the credential is for another environment than ${this.#environmentId}.`,
      );
    }
    if (frame.expires_at * 1000 <= this.#now()) {
      throw new RelayError("unauthorized", "--executor-credential-stdin: the credential has expired.");
    }
    this.#frame = frame;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
    this.#next.promise.catch(() => {});
  }

  #close(): void {
    if (this.#frame) this.#end.resolve();
    else this.#end.reject(noCredential());
    this.#next.reject(noCredential());
  }

  #fail(error: RelayError): void {
    this.#end.reject(error);
    this.#next.reject(error);
  }
}

/** The line holds a token, so no error quotes it. */
function parseFrame(line: string): CredentialFrame {
  try {
    return frameSchema.parse(JSON.parse(line));
  } catch {
    throw invalidFrame();
  }
}

function invalidFrame(): RelayError {
  return new RelayError(
    "bad_option",
    '--executor-credential-stdin expects lines of {"version":1,"environment_id":…,"token":…,"expires_at":<unix seconds>}.',
  );
}

function noCredential(): RelayError {
  return new RelayError(
    "unauthorized",
    "--executor-credential-stdin: the pipe closed without a valid credential.",
  );
}
