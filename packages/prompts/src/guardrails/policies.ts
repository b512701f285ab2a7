import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { normalize } from "node:path";
import { z } from "zod";
import { checkValue, isFunction, isString, isStrings } from "../check-value.ts";
import type { PromptSession } from "../session/session.ts";
import { defineSlice, type Slice } from "../session/slice.ts";
import { allow, deny, type PolicyCall, type ToolPolicy } from "../tools/tool-policy.ts";

type PolicyState = Readonly<Record<string, readonly string[]>>;

/** Each policy's state, by policy name, so that policies never share state. Rolled back with failed calls. */
const policyState: Slice<PolicyState> = defineSlice<PolicyState>({
  name: "policies",
  initial: {},
  schema: z.record(z.string(), z.array(z.string())),
});

function recall(session: PromptSession, policy: string): readonly string[] {
  return session.get(policyState)[policy] ?? [];
}

function remember(session: PromptSession, policy: string, value: string): void {
  session.update(policyState, (all) => {
    const values = all[policy] ?? [];
    return values.includes(value) ? all : { ...all, [policy]: [...values, value] };
  });
}

export interface ReadBeforeWriteOptions {
  /** Tools that read a file → the input field with the file's path. */
  readonly read: Readonly<Record<string, string>>;
  /** Tools that change a file → the input field with the file's path. */
  readonly write: Readonly<Record<string, string>>;
  /** Required if the policy is used twice. Default: "read-before-write". */
  readonly name?: string;
}

/** Denies changes to an existing file that has not been read. New files may be written. */
export function readBeforeWrite(options: ReadBeforeWriteOptions): ToolPolicy {
  rejectUnknownOptions("readBeforeWrite", options, KNOWN);
  const { read, write, name = "read-before-write" } = options;
  const check = (what: string, value: unknown): void =>
    checkDefinition(
      `readBeforeWrite: ${what}`,
      value ?? null,
      "an object that maps tools to fields",
      (fields) => isRecordOf(fields, isString),
    );
  check("read", read);
  check("write", write);
  return {
    name,
    check: (call) => {
      const path = pathOf(call, write);
      if (path === undefined || !call.fileExists(path) || recall(call.session, name).includes(path))
        return allow;
      return deny(`Read "${path}" before changing it.`);
    },
    onSuccess: (call) => {
      const path = pathOf(call, read) ?? pathOf(call, write);
      if (path !== undefined) remember(call.session, name, path);
    },
  };
}

const KNOWN: OptionKeys<ReadBeforeWriteOptions> = { read: true, write: true, name: true };

/** Rejects invalid definitions, because a misconfigured policy would allow everything. */
function checkDefinition(
  what: string,
  value: unknown,
  expected: string,
  isValid: (value: unknown) => boolean,
): void {
  checkValue(what, value, expected, isValid, "invalid_definition");
}

function isRecordOf(value: unknown, isValid: (value: unknown) => boolean): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isValid)
  );
}

/** Denies a tool until other tools have succeeded. */
export function requireTools(
  dependencies: Readonly<Record<string, readonly string[]>>,
  name = "require-tools",
): ToolPolicy {
  checkDefinition(
    "requireTools: dependencies",
    dependencies ?? null,
    "an object that maps tools to arrays of tools",
    (value) => isRecordOf(value, isStrings),
  );
  const needed = new Set(Object.values(dependencies).flat());
  return {
    name,
    check: ({ tool, session }) => {
      const done = recall(session, name);
      const wanted = Object.hasOwn(dependencies, tool) ? dependencies[tool] : undefined;
      const missing = (wanted ?? []).filter((dependency) => !done.includes(dependency));
      return missing.length === 0 ? allow : deny(`Call ${missing.join(" and ")} before ${tool}.`);
    },
    onSuccess: ({ tool, session }) => {
      if (needed.has(tool)) remember(session, name, tool);
    },
  };
}

/** Creates a policy from a function that returns the reason for a denial, or undefined to allow the call. */
export function customPolicy(
  name: string,
  check: (call: PolicyCall) => string | undefined | Promise<string | undefined>,
): ToolPolicy {
  checkDefinition("customPolicy: name", name ?? null, "a string", isString);
  checkDefinition(`customPolicy "${name}": check`, check ?? null, "a function", isFunction);
  return {
    name,
    check: async (call) => {
      const reason = await check(call);
      return reason === undefined ? allow : deny(reason);
    },
  };
}

function pathOf({ tool, input }: PolicyCall, fields: Readonly<Record<string, string>>): string | undefined {
  const field = Object.hasOwn(fields, tool) ? fields[tool] : undefined;
  if (field === undefined) return undefined;
  const path = (input as Readonly<Record<string, unknown>>)[field];
  // `./a` and `a` are the same file.
  return typeof path === "string" ? normalize(path) : undefined;
}
