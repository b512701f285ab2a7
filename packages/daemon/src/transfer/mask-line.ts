import type { SecretMask } from "../secrets/secret-mask.ts";
import type { LineOf, SessionFileLine } from "./session-file.ts";

/** Masks secrets in a line. Rollouts are masked as a whole, and the setup is exported without its secrets. */
export function maskLine(line: SessionFileLine, mask: SecretMask): SessionFileLine {
  switch (line.kind) {
    case "session": {
      const { session } = line;
      const { name, preview, goal } = session;
      return {
        ...line,
        session: {
          ...session,
          name: maskText(name, mask),
          preview: mask.text(preview),
          goal: goal && { ...goal, objective: mask.text(goal.objective) },
        },
      };
    }
    case "event":
      return { ...line, data: mask.json(line.data) };
    case "item":
      return { ...line, item: { ...line.item, preview: mask.json(line.item.preview) } };
    case "turn":
      return { ...line, title: mask.text(line.title) };
    case "approval":
      return { ...line, approval: maskApproval(line.approval, mask) };
    case "rollout":
    case "data":
    case "end":
      return line;
  }
}

function maskApproval(
  approval: LineOf<"approval">["approval"],
  mask: SecretMask,
): LineOf<"approval">["approval"] {
  const { request, verdict, offers, answer, progress, note } = approval;
  return {
    ...approval,
    request: mask.json(request),
    verdict: verdict && mask.json(verdict),
    offers: mask.json(offers),
    answer: answer && mask.json(answer),
    progress: progress && mask.json(progress),
    note: maskText(note, mask),
  };
}

function maskText(text: string | null, mask: SecretMask): string | null {
  return text === null ? null : mask.text(text);
}
