import type { Session } from "@codexkit/daemon/client";

/** What a session is called: its name, its newest message, or its folder. */
export function sessionTitle({ name, preview, cwd }: Pick<Session, "name" | "preview" | "cwd">): string {
  return name ?? (preview.trim() || folderName(cwd));
}

export function folderName(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}
