import { checkReply } from "./check-reply.ts";
import type { NextId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { FailedPart, IncompletePart, Part, Piece, Reply, SayPart, ThinkPart } from "./part.ts";
import type { AnyCall } from "./plan-calls.ts";
import { planCalls } from "./plan-calls.ts";
import type { ReplyStream } from "./reply-stream.ts";
import type { ReplyEnd, ScriptRequest } from "./script-request.ts";
import { defaultUsage, deltaEncoder, sseEvent, usageFields } from "./sse.ts";
import { waitForPart } from "./race-abort.ts";

/** The context in which a reply is played. */
export interface ReplyContext {
  readonly request: ScriptRequest;
  readonly stream: ReplyStream;
  readonly nextId: NextId;
  /** Aborts when Codex disconnects or the model is closed. */
  readonly signal: AbortSignal;
}

/** Plays one reply to its end. Throws if the script is invalid or if the signal aborts. */
export async function playReply(reply: Reply, context: ReplyContext): Promise<ReplyEnd> {
  const parts = checkReply(reply);
  return new ReplyPlayer(context).play(parts);
}

/** Plays one response and counts its items. */
class ReplyPlayer {
  readonly #context: ReplyContext;
  #responseId: string | undefined;
  #outputIndex = 0;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  async play(parts: readonly Part[]): Promise<ReplyEnd> {
    const { stream, request, nextId } = this.#context;
    let calls: AnyCall[] = [];
    let counts = defaultUsage;
    for (const [at, part] of parts.entries()) {
      if (part.kind === "call" || part.kind === "patch" || part.kind === "code") {
        calls.push(part);
        const next = parts[at + 1]?.kind;
        if (next === "call" || next === "patch" || next === "code") continue;
        for (const item of planCalls(calls, request, nextId)) await this.#item(item);
        calls = [];
      } else if (part.kind === "say" || part.kind === "think") {
        const end = part.kind === "say" ? await this.#say(part) : await this.#think(part);
        if (end) return end;
      } else if (part.kind === "http") {
        stream.endWith(part.status, part.headers, part.body);
        return "failed";
      } else if (part.kind === "usage") counts = part.usage;
      else if (part.kind === "headers") stream.addHeaders(part.headers);
      else if (part.kind === "item") await this.#item(part.item);
      else if (part.kind === "event") await this.#send(sseEvent(part.event));
      else {
        const end = await this.#between(part);
        if (end) return end;
      }
    }
    const id = this.#begin();
    stream.push(
      sseEvent({
        type: "response.completed",
        response: { id, usage: usageFields(counts) },
      }),
    );
    stream.end();
    return "completed";
  }

  async #say({
    id = this.#context.nextId("msg"),
    phase,
    pieces,
    stream,
  }: SayPart): Promise<ReplyEnd | undefined> {
    const message = { type: "message", role: "assistant", id, phase };
    const encode = deltaEncoder("response.output_text.delta", {
      item_id: id,
      output_index: this.#outputIndex,
      content_index: 0,
    });
    if (stream) {
      await this.#added({ ...message, content: [] });
      const end = await this.#pieces(pieces, encode);
      if (end) return end;
    }
    await this.#item({ ...message, content: [{ type: "output_text", text: joined(pieces) }] });
    return undefined;
  }

  async #think({ id = this.#context.nextId("rs"), raw, pieces }: ThinkPart): Promise<ReplyEnd | undefined> {
    const position = { item_id: id, output_index: this.#outputIndex };
    await this.#added({ type: "reasoning", id, summary: [] });
    await this.#send(
      sseEvent({ type: "response.reasoning_summary_part.added", ...position, summary_index: 0 }),
    );
    const encode = deltaEncoder("response.reasoning_summary_text.delta", { ...position, summary_index: 0 });
    const end = await this.#pieces(pieces, encode);
    if (end) return end;
    if (raw !== undefined)
      await this.#send(
        sseEvent({ type: "response.reasoning_text.delta", ...position, content_index: 0, delta: raw }),
      );
    await this.#item({
      type: "reasoning",
      id,
      summary: [{ type: "summary_text", text: joined(pieces) }],
      ...(raw !== undefined && { content: [{ type: "reasoning_text", text: raw }] }),
      // Codex only sends this back with the history.
      encrypted_content: "scripted",
    });
    return undefined;
  }

  async #pieces(pieces: readonly Piece[], encode: (delta: string) => string): Promise<ReplyEnd | undefined> {
    const { stream } = this.#context;
    for (const piece of pieces) {
      if (typeof piece === "string") {
        if (stream.push(encode(piece))) await stream.flush();
        continue;
      }
      const end = await this.#between(piece);
      if (end) return end;
    }
    return undefined;
  }

  /** Plays a part that is not output: a wait, or the end of the response. */
  async #between(part: Exclude<Piece, string> | IncompletePart): Promise<ReplyEnd | undefined> {
    const { stream, signal } = this.#context;
    switch (part.kind) {
      case "wait":
      case "pause":
        await stream.flush();
        await waitForPart(part, signal);
        return undefined;
      case "cut":
        await stream.cut();
        return "cut";
      default:
        stream.push(this.#failure(part));
        stream.end();
        return "failed";
    }
  }

  #failure(part: FailedPart | IncompletePart): string {
    const id = this.#begin();
    if (part.kind === "incomplete") {
      const response = { id, status: "incomplete", incomplete_details: { reason: part.reason } };
      return sseEvent({ type: "response.incomplete", response });
    }
    const response = { id, status: "failed", error: { code: part.code, message: part.message } };
    return sseEvent({ type: "response.failed", response });
  }

  async #added(item: JsonObject): Promise<void> {
    await this.#send(sseEvent({ type: "response.output_item.added", output_index: this.#outputIndex, item }));
  }

  async #item(item: JsonObject): Promise<void> {
    const index = this.#outputIndex++;
    await this.#send(sseEvent({ type: "response.output_item.done", output_index: index, item }));
  }

  async #send(text: string): Promise<void> {
    const { stream } = this.#context;
    this.#begin();
    if (stream.push(text)) await stream.flush();
  }

  /** Starts the response. Called only at the first output, so that an HTTP failure is possible until then. */
  #begin(): string {
    if (this.#responseId === undefined) {
      this.#responseId = this.#context.nextId("resp");
      this.#context.stream.push(sseEvent({ type: "response.created", response: { id: this.#responseId } }));
    }
    return this.#responseId;
  }
}

function joined(pieces: readonly Piece[]): string {
  return pieces.filter((piece) => typeof piece === "string").join("");
}
