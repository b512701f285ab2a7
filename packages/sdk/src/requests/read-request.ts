import type { ServerRequests } from "@codexkit/protocol";
import { openCommandApproval } from "./command-approval.ts";
import { openElicitation } from "./elicitation.ts";
import { openFileChangeApproval } from "./file-change-approval.ts";
import { openLegacyCommandApproval, openLegacyPatchApproval } from "./legacy-approvals.ts";
import { isMcpToolApproval, openMcpToolApproval } from "./mcp-tool-approval.ts";
import type { OpenRequest, ReadContext } from "./open-request.ts";
import { openPermissionsApproval } from "./permissions-approval.ts";
import { openAttestation, openAuthTokensRefresh, openCurrentTime, openToolCall } from "./service-requests.ts";
import { openUserInput } from "./user-input.ts";

type Readers = {
  readonly [M in keyof ServerRequests]: (
    params: ServerRequests[M]["params"],
    context: ReadContext,
  ) => OpenRequest;
};

/** Every request that the server of this release makes: a method that is missing here does not compile. */
const readers: Readers = {
  "item/commandExecution/requestApproval": openCommandApproval,
  "item/fileChange/requestApproval": openFileChangeApproval,
  "item/permissions/requestApproval": openPermissionsApproval,
  "item/tool/requestUserInput": openUserInput,
  "mcpServer/elicitation/request": (params, context) =>
    isMcpToolApproval(params, context)
      ? openMcpToolApproval(params, context)
      : openElicitation(params, context),
  "item/tool/call": openToolCall,
  "account/chatgptAuthTokens/refresh": openAuthTokensRefresh,
  "attestation/generate": openAttestation,
  "currentTime/read": openCurrentTime,
  execCommandApproval: openLegacyCommandApproval,
  applyPatchApproval: openLegacyPatchApproval,
};

/** Reads a request; undefined for a method that this release does not know. Throws on params that can't be read. */
export function readRequest(method: string, params: unknown, context: ReadContext): OpenRequest | undefined {
  if (!Object.hasOwn(readers, method)) return undefined;
  const read = readers[method as keyof ServerRequests] as (
    params: unknown,
    context: ReadContext,
  ) => OpenRequest;
  return read(params, context);
}
