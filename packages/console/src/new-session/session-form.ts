import type { CreateSession, Problem } from "@codexkit/daemon/client";
import { parseTokens } from "../usage/tokens.ts";

/** The fields of the form, as typed. */
export interface SessionForm {
  readonly cwd: string;
  readonly name: string;
  readonly model: string;
  readonly effort: string;
  readonly permissionMode: string;
  readonly agentMode: string;
  readonly approvalPolicy: string;
  readonly environmentUrl: string;
  readonly environmentToken: string;
  readonly budget: string;
  readonly deadline: string;
  readonly message: string;
}

export type FieldName = keyof SessionForm;
export type FieldErrors = Partial<Readonly<Record<FieldName, string>>>;

export const EMPTY_FORM: SessionForm = {
  cwd: "",
  name: "",
  model: "",
  effort: "",
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
  environmentUrl: "",
  environmentToken: "",
  budget: "",
  deadline: "",
  message: "",
};

/** Not kept across a reload. */
const SECRET_FIELDS: readonly FieldName[] = ["environmentToken"];

/** Validates the form as far as the page can, and creates the body of the request. */
export function readForm(
  form: SessionForm,
  now: number,
): { readonly body: CreateSession } | { readonly errors: FieldErrors } {
  const errors: Partial<Record<FieldName, string>> = {};
  const cwd = form.cwd.trim();
  if (!cwd.startsWith("/")) {
    errors.cwd =
      cwd === ""
        ? "Enter the folder that Codex works in."
        : "Enter the whole path, from the root of the file system.";
  }
  const totalTokens = form.budget.trim() === "" ? undefined : parseTokens(form.budget);
  if (form.budget.trim() !== "" && totalTokens === undefined) {
    errors.budget = "Enter a number of tokens, such as 200k or 1.5M.";
  }
  const deadline = form.deadline.trim() === "" ? undefined : parseDeadline(form.deadline, now);
  if (form.deadline.trim() !== "" && deadline === undefined) {
    errors.deadline = "Enter a time span such as 30m or 2h.";
  }
  const url = form.environmentUrl.trim();
  if (url !== "" && !/^wss?:\/\/./.test(url)) errors.environmentUrl = "Enter a URL with ws:// or wss://.";
  if (url === "" && form.environmentToken !== "") {
    errors.environmentUrl = "Enter the URL that the token is for.";
  }
  if (Object.keys(errors).length > 0) return { errors };
  return {
    body: {
      cwd,
      ...optional("name", form.name),
      ...optional("model", form.model),
      ...optional("effort", form.effort),
      permissionMode: form.permissionMode as NonNullable<CreateSession["permissionMode"]>,
      agentMode: form.agentMode as NonNullable<CreateSession["agentMode"]>,
      approvalPolicy: form.approvalPolicy as NonNullable<CreateSession["approvalPolicy"]>,
      ...(totalTokens !== undefined && { budget: { totalTokens } }),
      ...(deadline !== undefined && { deadline }),
      ...(url !== "" && { environment: { url, ...optional("token", form.environmentToken) } }),
    },
  };
}

/** The time at the end of a span such as `30m`, `2h` or `1d 6h`, in milliseconds since the epoch. */
export function parseDeadline(text: string, now: number): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (!/^(?:\d+\s*[smhd]\s*)+$/.test(trimmed)) return undefined;
  let span = 0;
  for (const [, count, unit] of trimmed.matchAll(/(\d+)\s*([smhd])/g)) {
    span += Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  const at = now + span;
  return span > 0 && at <= MAX_DATE_MS ? at : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_DATE_MS = 8.64e15;

/** The fields that a path of a `bad_request` belongs to. */
const FIELDS: Readonly<Record<string, FieldName>> = {
  cwd: "cwd",
  name: "name",
  model: "model",
  effort: "effort",
  permissionMode: "permissionMode",
  agentMode: "agentMode",
  approvalPolicy: "approvalPolicy",
  budget: "budget",
  deadline: "deadline",
  "environment.token": "environmentToken",
  environment: "environmentUrl",
};

/** Assigns a problem of the daemon to the fields. `general` has errors that belong to no field. */
export function fieldErrors(problem: Problem): {
  readonly fields: FieldErrors;
  readonly general: string | undefined;
} {
  if (problem.type === "path_not_allowed") return { fields: { cwd: problem.detail }, general: undefined };
  if (problem.type === "unknown_model") return { fields: { model: problem.detail }, general: undefined };
  const fields: Partial<Record<FieldName, string>> = {};
  const others: string[] = [];
  for (const { path, message } of problem.errors ?? []) {
    const field = findField(path);
    if (field) fields[field] ??= message;
    else others.push(`${path}: ${message}`);
  }
  const isAssigned = Object.keys(fields).length > 0 && others.length === 0;
  return { fields, general: isAssigned ? undefined : [problem.detail, ...others].join(" ") };
}

/** Paths look like `body.environment.url`, `/environment/url` or `environment.url`. */
function findField(path: string): FieldName | undefined {
  const parts = path.split(/[./]/).filter((part) => part !== "" && part !== "body");
  for (let length = parts.length; length > 0; length -= 1) {
    const field = FIELDS[parts.slice(0, length).join(".")];
    if (field) return field;
  }
  return undefined;
}

/** Reads a stored form. Fields that are missing have their default. */
export function parseForm(value: unknown): SessionForm {
  if (typeof value !== "object" || value === null) return EMPTY_FORM;
  const known = Object.keys(EMPTY_FORM) as FieldName[];
  const stored = value as Partial<Record<FieldName, unknown>>;
  const entries = known.flatMap((field) => {
    const text = stored[field];
    return typeof text === "string" ? [[field, text] as const] : [];
  });
  return { ...EMPTY_FORM, ...Object.fromEntries(entries) };
}

/** Removes secrets from the form, for the browser's storage. */
export function withoutSecrets(form: SessionForm): SessionForm {
  return { ...form, ...Object.fromEntries(SECRET_FIELDS.map((field) => [field, ""])) };
}

function optional<Name extends string>(name: Name, text: string): Partial<Record<Name, string>> {
  const trimmed = text.trim();
  return trimmed === "" ? {} : ({ [name]: trimmed } as Record<Name, string>);
}
