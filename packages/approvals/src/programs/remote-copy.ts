import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { entryOf, isLiteral } from "./declaration/path-words.ts";
import { literal, type Word } from "./declaration/word.ts";
import { isHost } from "./ssh-host.ts";

/** `host:path`. A colon after a slash belongs to a local name. */
export function isRemote({ text }: Word): boolean {
  return text !== undefined && /^[^/]*:/.test(text);
}

/** Effects of a copy between this machine and another one (`scp`, `rsync`). */
export function examineRemoteCopy({ operands }: ParsedCall): readonly Effect[] | string {
  const target = operands.at(-1);
  const sources = operands.slice(0, -1);
  if (!isLiteral(target)) return "the target is only known at run time";
  if (isRemote(target)) {
    const host = hostOf(target);
    if (host === undefined) return `"${target.text}" is not a plain remote path`;
    if (sources.some((word) => word.text === undefined || word.text.startsWith("-") || isRemote(word)))
      return "a source is not a local file";
    return [
      ...sources.map((path): Effect => ({ kind: "read", path })),
      { kind: "connect", target: host, sends: true },
    ];
  }
  const effects: Effect[] = [];
  const entries: Effect[] = [{ kind: "write", path: target }];
  for (const source of sources) {
    const host = isLiteral(source) ? hostOf(source) : undefined;
    if (host === undefined) return `"${source.text ?? "…"}" is not a plain remote path`;
    effects.push({ kind: "connect", target: host, sends: false });
    const path = entryOf(target, literal(source.text?.replace(/^[^:]*:/, "") ?? ""));
    if (path !== undefined) entries.push({ kind: "write", path });
  }
  return [...effects, ...entries];
}

/** Effects of a copy on this machine. */
export function examineLocalCopy({ operands }: ParsedCall): readonly Effect[] | string {
  const target = operands.at(-1);
  if (!isLiteral(target)) return "the target is only known at run time";
  const reads: Effect[] = [];
  const writes: Effect[] = [{ kind: "write", path: target }];
  for (const source of operands.slice(0, -1)) {
    if (source.text === undefined) return "a source is only known at run time";
    reads.push({ kind: "read", path: source });
    const path = entryOf(target, source);
    if (path !== undefined) writes.push({ kind: "write", path });
  }
  return [...reads, ...writes];
}

/** The host of `user@host:path`. Daemons (`host::module`) and URLs are not understood. */
function hostOf({ text }: Word): Word | undefined {
  const [, host = "", path = ""] = /^([^:]*):(.*)$/s.exec(text ?? "") ?? [];
  return isHost(host) && !path.startsWith(":") && !path.startsWith("//") ? literal(host) : undefined;
}
