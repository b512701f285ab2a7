import { definePolicy, type Policy, type PolicyInput } from "@codexkit/approvals";
import { readFile } from "node:fs/promises";
import { usageError } from "../errors/cli-error.ts";

/** Tells the user where the file format is described. */
const DESCRIPTION = "docs/approvals.md describes policies, rules and imports.";

interface PolicyAdditions {
  /** The workspace for policies that don't define one. */
  readonly workspace: PolicyInput["workspace"];
  /** Rules to add to those of the file. */
  readonly allow?: readonly string[];
}

/** Reads a policy file. Rejects with a one-line message that names the file. */
export async function readPolicyFile(
  file: string,
  { workspace, allow = [] }: PolicyAdditions,
): Promise<Policy> {
  // `definePolicy` checks the members.
  const input: PolicyInput = await readJson(file, "policy");
  const { additionalAllow = [] } = input;
  const isList = Array.isArray(additionalAllow);
  return createPolicy(
    { workspace, ...input, additionalAllow: isList ? [...additionalAllow, ...allow] : additionalAllow },
    `The policy ${file}`,
  );
}

/** @param name How error messages refer to the policy. */
export function createPolicy(input: PolicyInput, name: string): Policy {
  try {
    return definePolicy(input);
  } catch (error) {
    throw usageError(`${name} is not valid: ${(error as Error).message}`, DESCRIPTION);
  }
}

/** Reads a JSON object. */
export async function readJson(file: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(file, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`The ${what} ${file} is not JSON: ${(error as Error).message}.`, DESCRIPTION);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw usageError(`The ${what} ${file} is not a JSON object.`, DESCRIPTION);
}

export async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw usageError(
      `The ${what} ${file} can't be read (${code}).`,
      "Pass a file that exists and is readable.",
    );
  }
}
