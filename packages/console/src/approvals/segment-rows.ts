import type { PolicyVerdict } from "@codexkit/daemon/client";

/** A command of a script, with the policy's verdict on it. */
export interface SegmentRow {
  readonly command: string;
  /** 0 for a command of the script itself, 1 for one that it runs, such as that of `xargs`. */
  readonly depth: number;
  readonly decision: "allow" | "ask" | "deny";
  readonly reason: string;
  readonly rule: string;
}

/** Lists the commands that would run. A parent always precedes its children. An invalid parent index is ignored. */
export function segmentRows({ segments }: PolicyVerdict): readonly SegmentRow[] {
  const depths: number[] = [];
  return segments.map(({ command, parent, decision, reason, rule }, index) => {
    const depth = parent >= 0 && parent < index ? (depths[parent] ?? 0) + 1 : 0;
    depths.push(depth);
    return { command, depth, decision, reason, rule };
  });
}

/** Whether the policy would deny the request or a part of it, so that allowing it needs a second press. */
export function isFlagged(verdict: PolicyVerdict | null): boolean {
  return verdict !== null && [verdict, ...verdict.segments].some(({ decision }) => decision === "deny");
}
