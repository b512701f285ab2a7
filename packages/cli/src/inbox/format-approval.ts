import type { Approval, PolicyVerdict } from "@codexkit/daemon/client";
import { formatRequest } from "../render/format-request.ts";
import { formatAge } from "../render/format-values.ts";
import { revealLine } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";

/** Formats a request with the reasons given by the agent and the policy, and its outcome. */
export function formatApproval(approval: Approval, cwd: string, style: Style): string[] {
  const { request, verdict, state, answeredBy, note, createdAt, id } = approval;
  return [
    ...formatRequest(request, cwd, style),
    ...(verdict ? formatVerdict(verdict, style) : []),
    ...(state === "open"
      ? []
      : [
          `  ${style.dim("State:")} ${state}${answeredBy === null ? "" : ` by ${answeredBy}`}${note ? `, ${revealLine(note)}` : ""}`,
        ]),
    `  ${style.dim(`${id}, ${formatAge(Date.now() - createdAt)}`)}`,
  ];
}

/** Formats the verdict on the whole script, and on each command if there are several. */
function formatVerdict({ decision, reason, rule, segments }: PolicyVerdict, style: Style): string[] {
  const paints = { allow: style.green, ask: style.yellow, deny: style.red };
  const depthOf = (index: number): number => {
    const parent = segments[index]?.parent ?? -1;
    return parent < 0 || parent >= index ? 0 : 1 + depthOf(parent);
  };
  const lines = segments.map((segment, index) => {
    const indent = "  ".repeat(depthOf(index));
    return `    ${indent}${paints[segment.decision](segment.decision.padEnd(5))} ${revealLine(segment.command)}  ${style.dim(revealLine(segment.reason))}`;
  });
  return [
    `  ${style.dim("The policy:")} ${paints[decision](decision)}, ${revealLine(reason)} ${style.dim(`[${revealLine(rule)}]`)}`,
    ...(segments.length > 1 ? lines : []),
  ];
}
