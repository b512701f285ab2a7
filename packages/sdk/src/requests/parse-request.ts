import type { ServerRequests } from "@codexkit/protocol";
import { parseCommandApproval } from "./command-approval.ts";
import { parseElicitation } from "./elicitation.ts";
import { parseFileChangeApproval } from "./file-change-approval.ts";
import { parseLegacyCommandApproval, parseLegacyPatchApproval } from "./legacy-approvals.ts";
import { openMcpToolApproval, readMcpToolApproval } from "./mcp-tool-approval.ts";
import type { OpenRequest, ParseContext } from "./open-request.ts";
import { parsePermissionsApproval } from "./permissions-approval.ts";
import {
  parseAttestation,
  parseAuthTokensRefresh,
  parseCurrentTime,
  parseToolCall,
} from "./service-requests.ts";
import { parseUserInput } from "./user-input.ts";

type Parsers = {
  readonly [M in keyof ServerRequests]: (
    params: ServerRequests[M]["params"],
    context: ParseContext,
  ) => OpenRequest;
};

/** All requests of this release. A missing method is a type error. */
const parsers: Parsers = {
  "item/commandExecution/requestApproval": parseCommandApproval,
  "item/fileChange/requestApproval": parseFileChangeApproval,
  "item/permissions/requestApproval": parsePermissionsApproval,
  "item/tool/requestUserInput": parseUserInput,
  "mcpServer/elicitation/request": (params, context) => {
    const approval = readMcpToolApproval(params, context);
    return approval ? openMcpToolApproval(approval) : parseElicitation(params, context);
  },
  "item/tool/call": parseToolCall,
  "account/chatgptAuthTokens/refresh": parseAuthTokensRefresh,
  "attestation/generate": parseAttestation,
  "currentTime/read": parseCurrentTime,
  execCommandApproval: parseLegacyCommandApproval,
  applyPatchApproval: parseLegacyPatchApproval,
};

/** Parses a request. Returns undefined for an unknown method. Throws if the params can't be read. */
export function parseRequest(
  method: string,
  params: unknown,
  context: ParseContext,
): OpenRequest | undefined {
  if (!Object.hasOwn(parsers, method)) return undefined;
  const parse = parsers[method as keyof ServerRequests] as (
    params: unknown,
    context: ParseContext,
  ) => OpenRequest;
  return parse(params, context);
}
