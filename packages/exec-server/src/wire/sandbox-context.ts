import * as z from "zod";

const special = z.union([
  z.object({ kind: z.enum(["root", "minimal", "tmpdir", "slash_tmp"]) }),
  z.object({
    kind: z.enum(["project_roots", "current_working_directory"]),
    subpath: z.string().nullish(),
  }),
  z.object({ kind: z.literal("unknown"), path: z.string(), subpath: z.string().nullish() }),
]);

const entry = z.object({
  path: z.discriminatedUnion("type", [
    z.object({ type: z.literal("path"), path: z.string() }),
    z.object({ type: z.literal("glob_pattern"), pattern: z.string() }),
    z.object({ type: z.literal("special"), value: special }),
  ]),
  access: z.enum(["read", "write", "deny", "none"]),
  missing_path_behavior: z.literal("skip").nullish(),
});

const fileSystem = z.discriminatedUnion("type", [
  z.object({ type: z.literal("unrestricted") }),
  z.object({
    type: z.literal("restricted"),
    entries: z.array(entry),
    glob_scan_max_depth: z.number().int().min(1).nullish(),
  }),
]);

const network = z.enum(["restricted", "enabled"]);

/**
 * What a process or a file operation may access. Like Codex, mixes camel case (outside) and snake case
 * (inside).
 */
export const sandboxContext = z.object({
  permissions: z.discriminatedUnion("type", [
    z.object({ type: z.literal("managed"), file_system: fileSystem, network }),
    z.object({ type: z.literal("disabled") }),
    z.object({ type: z.literal("external"), network }),
  ]),
  cwd: z.string().nullish(),
  workspaceRoots: z.array(z.string()).nullish(),
  policyContext: z
    .object({ cwd: z.string().nullish(), workspaceRoots: z.array(z.string()).nullish() })
    .nullish(),
  userHomeDir: z.string().nullish(),
  temporaryDirectories: z.array(z.string()).nullish(),
  sandboxOverride: z
    .enum(["noOverride", "escalatedSandboxWithRestrictions", "bypassSandboxFirstAttempt"])
    .nullish(),
  windowsSandboxLevel: z.enum(["disabled", "restricted-token", "elevated"]),
  useLegacyLandlock: z.boolean().nullish(),
});

/** The sandbox object on process and file requests. */
export type SandboxContext = z.input<typeof sandboxContext>;
export type SandboxEntry = z.output<typeof entry>;
