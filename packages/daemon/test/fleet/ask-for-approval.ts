import type { FleetClient } from "./fleet-client.ts";

/** Creates a session and waits until it has an open approval. */
export async function askForApproval(
  client: FleetClient,
  id: string,
): Promise<{ sessionId: string; approvalId: string }> {
  const session = await client.create({ permissionMode: "read-only" });
  await client.send(session.id, `ask ${id}`);
  const opened = await client.event(session.id, ({ type }) => type === "inbox.opened");
  return { sessionId: session.id, approvalId: "approvalId" in opened ? opened.approvalId : "" };
}
