import { SignJWT } from "jose";
import { randomUUID } from "node:crypto";
import type { SessionSetup } from "../api/settings.ts";
import type { AppServer, RegisteredEnvironment } from "../codex/app-server.ts";

export interface SessionEnvironmentOptions {
  readonly sessionId: string;
  /** The epoch of the session's owner. */
  readonly epoch: number;
  readonly environment: NonNullable<SessionSetup["environment"]>;
  /** Whether another node had the session before, so that what this app-server knows of it is outdated. */
  readonly isForeign: boolean;
  /** Validity of the tokens that are signed for the exec-server, in milliseconds. */
  readonly tokenMs: number;
}

/**
 * The exec-server of a session, as one app-server knows it. With the secret of the exec-server, each owner signs tokens with its
 * epoch, so that the exec-server closes the connections of former owners when this one connects.
 *
 * Codex also uses a token to connect again, and a loaded thread keeps the token that was registered first under an ID. A turn uses
 * another token only if it names another ID, which the model sees. Therefore the ID changes only if the token must.
 */
export class SessionEnvironment {
  readonly #server: AppServer;
  readonly #options: SessionEnvironmentOptions;

  private constructor(server: AppServer, options: SessionEnvironmentOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Registers the exec-server with an app-server, which connects to it at once, unless an earlier registration can be used. */
  static async open(server: AppServer, options: SessionEnvironmentOptions): Promise<SessionEnvironment> {
    const opened = new SessionEnvironment(server, options);
    const { sessionId, environment, isForeign } = options;
    if (isForeign) server.environments.delete(sessionId);
    if (environment.secret !== undefined && !isForeign) {
      if (server.environments.has(sessionId)) return opened;
      const { status } = await server.codex.environments.status(sessionId);
      if (status !== "unknown") {
        // An earlier boot has registered it. A higher epoch would close the connection of a turn that is still running, so the
        // next turn uses another token.
        server.environments.set(sessionId, { id: sessionId, renewAt: 0 });
        return opened;
      }
    }
    await opened.#register(sessionId);
    return opened;
  }

  /** The ID under which turns select it. */
  get id(): string {
    return this.#registered?.id ?? this.#options.sessionId;
  }

  /** Replaces a token that expires soon. Call before each turn. A turn can connect again as long as its token is valid. */
  async renew(): Promise<void> {
    const { renewAt } = this.#registered ?? {};
    if (renewAt === undefined || Date.now() < renewAt) return;
    await this.#register(`${this.#options.sessionId}-${randomUUID().slice(0, 8)}`);
  }

  get #registered(): RegisteredEnvironment | undefined {
    return this.#server.environments.get(this.#options.sessionId);
  }

  async #register(id: string): Promise<void> {
    const { sessionId, environment, tokenMs } = this.#options;
    const { url, token, secret } = environment;
    const now = Date.now();
    const bearerToken = secret === undefined ? token : await this.#sign(secret, now + tokenMs);
    await this.#server.codex.environments.add({ id, url, ...(bearerToken !== undefined && { bearerToken }) });
    this.#server.environments.set(sessionId, {
      id,
      renewAt: secret === undefined ? undefined : now + tokenMs / 2,
    });
  }

  /** With jose instead of the exec-server's `signBearerToken`: importing the server takes 350 ms and 66 MB. */
  async #sign(secret: string, expiresAt: number): Promise<string> {
    const { sessionId, epoch, environment } = this.#options;
    const { issuer, audience } = environment;
    const token = new SignJWT({ sub: sessionId, epoch })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime(Math.ceil(expiresAt / 1000));
    if (issuer !== undefined) token.setIssuer(issuer);
    if (audience !== undefined) token.setAudience(audience);
    return token.sign(Buffer.from(secret));
  }
}
