import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { normalize } from "node:path";
import { z } from "zod";
import { checkValue, isFunction, isString, isStrings } from "../check-value.ts";
import type { PromptSession } from "../session/session.ts";
import { defineSlice, type Slice } from "../session/slice.ts";
import { allow, deny, type PolicyCall, type ToolPolicy } from "../tools/tool-policy.ts";

type PolicyState = Readonly<Record<string, readonly string[]>>;

/** What each policy remembers, by its name: policies never share state. Rolled back with failed calls. */
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
  /** Tools that read a file, and the field of their input with its path. */
  readonly read: Readonly<Record<string, string>>;
  /** Tools that change a file, and the field of their input with its path. */
  readonly write: Readonly<Record<string, string>>;
  /** Default: "read-before-write". Needed to use the policy twice. */
  readonly name?: string;
}

/** Denies changes to an existing file that was not read before. New files may be written. */
export function readBeforeWrite(options: ReadBeforeWriteOptions): ToolPolicy {
  rejectUnknownOptions("readBeforeWrite", options, KNOWN);
  const { read, write, name = "read-before-write" } = options;
  const check = (what: string, value: unknown): void =>
    checkDefinition(`readBeforeWrite: ${what}`, value ?? null, "an object of tools and fields", (fields) =>
      isRecordOf(fields, isString),
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

/** A guard that is set up wrongly would allow everything. */
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
    "an object of tools and arrays",
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

/** A policy from a function: returns the reason for a denial, or undefined to allow. */
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
