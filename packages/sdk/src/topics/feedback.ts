import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { checkAbsolute } from "./absolute-path.ts";

/** Contents of a report. */
export interface FeedbackReport {
  /** Codex's own values are `bug`, `bad_result`, `good_result`, `safety_check` and `other`. */
  readonly classification: string;
  readonly reason?: string;
  readonly threadId?: string;
  /** Includes the server's logs, which can contain prompts and file contents. */
  readonly includeLogs?: boolean;
  readonly extraLogFiles?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
}

/** Reports about Codex. */
export class Feedback {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Writes a report to a new ZIP file on the server's machine. Rejects if the file exists. Nothing is sent. */
  async save(
    path: string,
    report: FeedbackReport,
    options: CallOptions = {},
  ): Promise<v2.FeedbackSaveResponse> {
    const params = { savePath: checkAbsolute(path), ...toWire(report) };
    return this.#caller.request("feedback/save", params, options);
  }

  /** Sends a report to OpenAI. */
  upload(report: FeedbackReport, options: CallOptions = {}): Promise<v2.FeedbackUploadResponse> {
    return this.#caller.request("feedback/upload", toWire(report), options);
  }
}

function toWire({ extraLogFiles, ...report }: FeedbackReport): v2.FeedbackUploadParams {
  return { ...report, ...(extraLogFiles ? { extraLogFiles: [...extraLogFiles] } : {}) };
}
