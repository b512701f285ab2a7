import type { Approval } from "@codexkit/daemon/client";

export interface ApprovalCardProps {
  readonly approval: Approval;
  /** Where the card is: in the inbox it names its session. */
  readonly place: "inbox" | "transcript";
}

export function ApprovalCard(props: ApprovalCardProps) {
  return <article aria-label="Approval">{props.approval.kind}</article>;
}
