import type { v2 } from "codexkit";

/**
 * Sources of threads that are listed: those started by users and programs, but not by agents. By default,
 * Codex also omits threads of programs, such as `codexkit run`.
 */
export const THREAD_SOURCES: v2.ThreadSourceKind[] = ["cli", "vscode", "exec", "appServer"];
