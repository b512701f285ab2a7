import type * as z from "zod";
import type { fileParams } from "./file-params.ts";
import type { httpParams } from "./http-params.ts";
import type { NetworkAnswer, NetworkDecision, ProxiedRequest } from "./network-proxy.ts";
import type {
  readParams,
  signalParams,
  startParams,
  terminateParams,
  writeParams,
} from "./process-params.ts";

/** The stream that output came from. A PTY has one stream. */
export type OutputStream = "stdout" | "stderr" | "pty";

export interface EnvironmentInfo {
  readonly shell: { readonly name: string; readonly path: string };
  readonly cwd: string | null;
  readonly temporaryDirectories?: readonly string[];
  readonly tempDir?: string;
  readonly executorVersion?: string;
  readonly providerId?: string;
  readonly userHomeDir?: string | null;
  readonly platformOs?: string;
  readonly prependPathDirs?: readonly string[];
  /** Capabilities of the server beyond the basic protocol. Missing ones are false. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
}

export interface OutputChunk {
  readonly seq: number;
  readonly stream: OutputStream;
  readonly chunk: string;
}

export interface ReadResult {
  readonly chunks: readonly OutputChunk[];
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  readonly failure: string | null;
  readonly sandboxDenied?: boolean | null;
}

export interface FileMetadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
  readonly size: number;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

export interface DirectoryEntry {
  readonly fileName: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

export interface WalkResult {
  readonly entries: readonly { readonly path: string; readonly kind: "directory" | "file" }[];
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  readonly truncated: boolean;
}

export interface HttpResult {
  readonly status: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bodyBase64: string;
}

/** Layers of settings, the lowest precedence first. */
export interface EnvironmentConfigStack {
  readonly layers: readonly { readonly source: string; readonly baseDir: string; readonly toml: string }[];
  /** Index at which layers from the cloud are inserted. */
  readonly cloudInsertionIndex: number;
}

export interface EnvironmentConfig {
  readonly userHomeDir: string | null;
  readonly codexHomeDir: string;
  readonly hostname: string | null;
  readonly config: EnvironmentConfigStack;
  readonly requirements: EnvironmentConfigStack;
}

export type WriteStatus = "accepted" | "unknownProcess" | "stdinClosed" | "starting";

type Call<Schema extends z.ZodType, Result> = { params: z.input<Schema>; result: Result };
type Done = Record<string, never>;

interface FileResults {
  "fs/readFile": { dataBase64: string };
  "fs/writeFile": Done;
  "fs/createDirectory": Done;
  "fs/getMetadata": FileMetadata;
  "fs/canonicalize": { path: string };
  "fs/readDirectory": { entries: readonly DirectoryEntry[] };
  "fs/walk": WalkResult;
  "fs/remove": Done;
  "fs/copy": Done;
  "fs/open": { handleId: string };
  "fs/readBlock": { chunk: string; eof: boolean };
  "fs/writeBlock": Done;
  "fs/close": Done;
  "fs/watchMissing": { watching: boolean };
}

type FileCalls = {
  [M in keyof FileResults]: Call<(typeof fileParams)[M], FileResults[M]>;
};

/** Requests that a client makes. */
export interface ExecCalls extends FileCalls {
  initialize: {
    params: { clientName: string; resumeSessionId?: string | null };
    result: { sessionId: string; environmentInfo?: EnvironmentInfo };
  };
  "environment/info": { params: undefined; result: EnvironmentInfo };
  "environment/status": { params: undefined; result: { status: string } };
  "environmentConfig/read": {
    params: { cwd: string; configPaths: string[][]; requirementsPaths: string[][] };
    result: EnvironmentConfig;
  };
  "process/start": Call<typeof startParams, { processId: string; sandboxType?: string | null }>;
  "process/read": Call<typeof readParams, ReadResult>;
  "process/write": Call<typeof writeParams, { status: WriteStatus }>;
  "process/signal": Call<typeof signalParams, Done>;
  "process/terminate": Call<typeof terminateParams, { running: boolean }>;
  "http/request": Call<typeof httpParams, HttpResult>;
  "capabilityRoots/discoverV1": { params: { roots: { id: string; path: string }[] }; result: unknown };
  "capabilities/discoverV2": { params: { cwd: string }; result: unknown };
}

/** Notifications that a client receives. */
export interface ExecNotices {
  "process/output": OutputChunk & { readonly processId: string };
  "process/exited": {
    readonly processId: string;
    readonly seq: number;
    readonly exitCode: number;
    readonly sandboxDenied?: boolean | null;
  };
  "process/closed": { readonly processId: string; readonly seq: number };
  "http/request/bodyDelta": {
    readonly requestId: string;
    readonly seq: number;
    readonly deltaBase64: string;
    readonly done: boolean;
    readonly error?: string | null;
  };
  "fs/missingChanged": { readonly watchId: number };
  "network/policyDecision": NetworkDecision;
}

/** Requests that a client answers. */
export interface ExecQuestions {
  "network/policyRequest": {
    params: { readonly processId: string; readonly request: ProxiedRequest };
    result: { readonly decision: NetworkAnswer };
  };
}

/** The protocol as a client sees it. */
export interface ExecWire {
  calls: ExecCalls;
  sends: { initialized: object };
  answers: ExecQuestions;
  receives: ExecNotices;
}
