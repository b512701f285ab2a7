import { ScriptedModelError } from "./errors.ts";
import type { Part, Piece, Reply } from "./part.ts";
import { say } from "./say.ts";

/** Returns a reply's parts. Throws if their order is invalid, so that a script's mistake is not taken for one of Codex. */
export function checkReply(reply: Reply): readonly Part[] {
  const parts = partsOf(reply);
  let sent = false;
  let over: Part["kind"] | undefined;
  for (const part of parts) {
    if (over !== undefined) throw invalid(`nothing can follow "${over}", but "${part.kind}" does`);
    if (sent && (part.kind === "http" || part.kind === "headers"))
      throw invalid(`"${part.kind}" must precede any output, because the HTTP status is sent first`);
    if (part.kind === "http" || part.kind === "cut" || part.kind === "failed" || part.kind === "incomplete")
      over = part.kind;
    else if ((part.kind === "say" || part.kind === "think") && part.pieces.some(endsStream)) over = part.kind;
    else if (part.kind !== "wait" && part.kind !== "pause" && part.kind !== "headers") sent = true;
  }
  return parts;
}

function endsStream(piece: Piece): boolean {
  return typeof piece !== "string" && (piece.kind === "cut" || piece.kind === "failed");
}

function partsOf(reply: Reply): readonly Part[] {
  if (typeof reply === "string") return [say(reply)];
  return isList(reply) ? reply : [reply];
}

// `Array.isArray` doesn't narrow a readonly list.
function isList(reply: Part | readonly Part[]): reply is readonly Part[] {
  return Array.isArray(reply);
}

function invalid(why: string): ScriptedModelError {
  return new ScriptedModelError("invalid_reply", `A reply of the script is invalid: ${why}.`);
}
