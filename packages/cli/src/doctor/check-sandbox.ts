import { findCodex } from "codexkit/process";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { type Finding, PROGRAM_MS } from "./finding.ts";

/** Linux settings that can disable the namespaces of a sandbox, with the disabling value and the fix. */
const KERNEL_SETTINGS = [
  {
    file: "/proc/sys/user/max_user_namespaces",
    forbids: "0",
    fix: "Run `sudo sysctl user.max_user_namespaces=15000`.",
  },
  {
    file: "/proc/sys/kernel/unprivileged_userns_clone",
    forbids: "0",
    fix: "Run `sudo sysctl kernel.unprivileged_userns_clone=1`.",
  },
  {
    file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    forbids: "1",
    fix: "Install an AppArmor profile for bubblewrap, or run `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`.",
  },
] as const;

const SYSTEM_BUBBLEWRAP = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/** Runs a harmless command in codex's own sandbox. If that fails, looks for the reason. */
export function checkSandbox(env: NodeJS.ProcessEnv): Finding[] {
  const check = "sandbox";
  let codex: string;
  try {
    codex = findCodex({ env }).path;
  } catch {
    return [
      {
        check,
        status: "warning",
        message: "Not checked, because it needs codex.",
        fix: "Install codex first.",
      },
    ];
  }
  const { status, stderr } = spawnSync(codex, ["sandbox", "--", ...HARMLESS], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
    timeout: PROGRAM_MS,
  });
  if (status === 0)
    return [{ check, status: "ok", message: `codex runs sandboxed commands${describeBubblewrap()}` }];
  const reason = (stderr ?? "").trim().split("\n").at(-1) ?? "";
  return [
    {
      check,
      status: "failed",
      message: `A sandboxed command fails${reason === "" ? "" : `: ${reason}`}`,
      fix: findKernelFix() ?? FALLBACK_FIX,
    },
  ];
}

const HARMLESS = process.platform === "win32" ? ["cmd", "/c", "exit"] : ["/bin/sh", "-c", ":"];

const FALLBACK_FIX =
  process.platform === "linux"
    ? "Install bubblewrap (`apt install bubblewrap`). In a container, allow user namespaces or use --sandbox danger-full-access."
    : "Use --sandbox danger-full-access on an isolated machine.";

function describeBubblewrap(): string {
  if (process.platform !== "linux") return "";
  return SYSTEM_BUBBLEWRAP.some((path) => existsSync(path))
    ? ", with the system's bubblewrap"
    : ", with the bubblewrap of codex";
}

function findKernelFix(): string | undefined {
  const isSet = ({ file, forbids }: (typeof KERNEL_SETTINGS)[number]): boolean => {
    try {
      return readFileSync(file, "utf8").trim() === forbids;
    } catch {
      return false;
    }
  };
  const setting = KERNEL_SETTINGS.find(isSet);
  return setting && `User namespaces are disabled (${setting.file}). ${setting.fix}`;
}
