import { parsePolicy, type Policy, type PolicyInput } from "@codexkit/approvals";
import { readFile } from "node:fs/promises";
import { usageError } from "../errors/cli-error.ts";

/** Reads a policy file. A policy without a workspace gets the given one. Rejects with one line that names the file. */
export async function readPolicyFile(file: string, workspace: PolicyInput["workspace"]): Promise<Policy> {
  const input = await readJson(file, "policy");
  try {
    return parsePolicy({ workspace, ...(input as object) });
  } catch (error) {
    throw usageError(`The policy ${file} is not valid: ${(error as Error).message}`, DOCS_HINT);
  }
}

const DOCS_HINT = "docs/approvals.md describes policies and rules.";

/** Reads a JSON object. */
export async function readJson(file: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(file, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`The ${what} ${file} is not JSON: ${(error as Error).message}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw usageError(`The ${what} ${file} is not a JSON object.`);
}

export async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw usageError(`The ${what} ${file} can't be read (${code}).`);
  }
}
