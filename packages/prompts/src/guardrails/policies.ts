import { z } from "zod";
import type { Session } from "../session/session.ts";
import { defineSlice, type Slice } from "../session/slice.ts";
import { allow, deny, type PolicyCall, type ToolPolicy } from "../tools/tool-policy.ts";

type PolicyState = Readonly<Record<string, readonly string[]>>;

/** What each policy remembers, by its name: policies never share state. Rolled back with failed calls. */
const policyState: Slice<PolicyState> = defineSlice<PolicyState>({
  name: "policies",
  initial: {},
  schema: z.record(z.string(), z.array(z.string())),
});

function recall(session: Session, policy: string): readonly string[] {
  return session.get(policyState)[policy] ?? [];
}

function remember(session: Session, policy: string, value: string): void {
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
  const { read, write, name = "read-before-write" } = options;
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

/** Denies a tool until other tools have succeeded. */
export function requireTools(
  dependencies: Readonly<Record<string, readonly string[]>>,
  name = "require-tools",
): ToolPolicy {
  const needed = new Set(Object.values(dependencies).flat());
  return {
    name,
    check: ({ tool, session }) => {
      const done = recall(session, name);
      const missing = (dependencies[tool] ?? []).filter((dependency) => !done.includes(dependency));
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
  return typeof path === "string" ? path : undefined;
}
