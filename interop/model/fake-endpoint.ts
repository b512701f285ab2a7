import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelApi } from "./model-api.ts";
import type { ModelReply, ModelRequest } from "./model-script.ts";

/** A model endpoint on loopback that plays a script over one API. */
export class FakeEndpoint implements AsyncDisposable {
  readonly #server: Server;
  #modelCalls = 0;
  readonly #api: ModelApi;
  readonly #script: (request: ModelRequest) => ModelReply;

  private constructor(api: ModelApi, script: (request: ModelRequest) => ModelReply) {
    this.#api = api;
    this.#script = script;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(api: ModelApi, script: (request: ModelRequest) => ModelReply): Promise<FakeEndpoint> {
    const endpoint = new FakeEndpoint(api, script);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    endpoint.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    await promise;
    return endpoint;
  }

  /** Number of replies requested so far. */
  get modelCalls(): number {
    return this.#modelCalls;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET" } = request;
    const path = new URL(request.url ?? "/", this.url).pathname;
    const body = await readJson(request);
    const call = method === "POST" ? this.#api.parse(path, body) : undefined;
    if (!call) return this.#answer(method, path, response);
    this.#modelCalls += 1;
    const reply = this.#script(call.request);
    const events = call.write(reply);
    if (!call.streams) return sendJson(response, 200, events[0]?.data);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const { name, data } of events) {
      const text = typeof data === "string" ? data : JSON.stringify(data);
      response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`);
    }
    // A reply that hangs stays open until the agent gives up on it.
    if (reply.type !== "hang") response.end();
  }

  #answer(method: string, path: string, response: ServerResponse): void {
    const answer = this.#api.answer(method, path);
    if (answer !== undefined) return sendJson(response, 200, answer);
    sendJson(response, 404, { error: { message: "not found" } });
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
