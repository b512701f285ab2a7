import type { Session } from "@codexkit/daemon/client";

type Settings = Session["settings"];

interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly detail: string;
}

export const PERMISSION_MODES: readonly Choice<Settings["permissionMode"]>[] = [
  { value: "read-only", label: "Read only", detail: "Commands can read. Codex asks before anything else." },
  {
    value: "workspace-write",
    label: "Workspace",
    detail: "Commands write inside the folder, without network. Codex asks before anything else.",
  },
  {
    value: "danger-full-access",
    label: "Full access",
    detail: "No sandbox. The policy denies catastrophic commands.",
  },
  { value: "bypass", label: "Bypass", detail: "No sandbox and no approvals." },
];

export const AGENT_MODES: readonly Choice<Settings["agentMode"]>[] = [
  { value: "build", label: "Build", detail: "Codex works." },
  { value: "plan", label: "Plan", detail: "Codex plans and asks questions. Nothing is changed." },
  { value: "chat", label: "Chat", detail: "Codex answers. Nothing is changed." },
];

export const APPROVAL_POLICIES: readonly Choice<Settings["approvalPolicy"]>[] = [
  {
    value: "on-request",
    label: "When Codex asks",
    detail: "Codex asks when it needs more than the sandbox.",
  },
  {
    value: "untrusted",
    label: "For most commands",
    detail: "Codex asks before every command that is not known to be harmless.",
  },
  { value: "never", label: "Never", detail: "Actions that need more than the sandbox fail." },
];
