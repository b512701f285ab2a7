import type { Session } from "@codexkit/daemon/client";

/** The title of a session: its name, its newest message, or its folder. */
export function sessionTitle({ name, preview, cwd }: Pick<Session, "name" | "preview" | "cwd">): string {
  return name ?? (preview.trim() || folderName(cwd));
}

export function folderName(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}
