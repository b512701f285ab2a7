import type { Policy, PolicyInput } from "@codexkit/approvals";
import { readFile } from "node:fs/promises";
import type { SandboxMode, ThreadCommandOptions } from "./thread-options.ts";
import { usageError } from "../errors/cli-error.ts";

/** The policy of `--policy` and `--allow`; without a file, the preset of the same name as the sandbox. */
export async function loadPolicy(
  { policy: file, allow = [], sandbox = "workspace-write", mode = "build" }: ThreadCommandOptions,
  cwd: string,
): Promise<Policy> {
  const preset: SandboxMode = mode === "build" ? sandbox : "read-only";
  const input: PolicyInput = file === undefined ? { preset } : await readPolicy(file);
  const { definePolicy } = await import("@codexkit/approvals");
  try {
    return definePolicy({
      ...input,
      workspace: input.workspace ?? cwd,
      additionalAllow: [...(input.additionalAllow ?? []), ...allow],
    });
  } catch (error) {
    const what = file === undefined ? "--allow" : `The policy ${file}`;
    throw usageError(
      `${what} is not valid: ${(error as Error).message}`,
      "docs/approvals.md describes policies and rules.",
    );
  }
}

async function readPolicy(file: string): Promise<PolicyInput> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw usageError(`The policy ${file} can't be read (${code}).`, "Pass an existing file with --policy.");
  }
  try {
    const json: unknown = JSON.parse(text);
    // `definePolicy` checks the members.
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json;
  } catch (error) {
    throw usageError(`The policy ${file} is not JSON: ${(error as Error).message}`);
  }
  throw usageError(`The policy ${file} is not a JSON object.`);
}
