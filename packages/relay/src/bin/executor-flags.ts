import type { LogLevel } from "@codexkit/exec-server";

/** Flags of `executor` and `forward`, as commander returns them. */
interface SharedFlags {
  readonly remote: string;
  readonly environmentId: string;
  readonly name?: string;
  readonly tokenFile?: string;
  readonly executorCredentialStdin?: boolean;
  readonly useAgentIdentityAuth?: boolean;
  readonly identityFile?: string;
  readonly allowInsecureHttp?: boolean;
  readonly exitOnStdinClose?: boolean;
  readonly logLevel: LogLevel;
}

export interface ExecutorFlags extends SharedFlags {
  readonly remoteTransport: "noise" | "direct";
  readonly awsSigv4?: boolean;
  readonly awsProfile?: string;
  readonly awsRegion?: string;
  readonly awsService?: string;
  readonly concurrentRequests?: number;
  readonly bwrap?: string;
}

export interface ForwardFlags extends SharedFlags {
  readonly connect: string;
  readonly connectTokenFile?: string;
}
