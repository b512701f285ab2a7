import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { checkAbsolute } from "./absolute-path.ts";

/** What a report is about. */
export interface FeedbackReport {
  /** Codex's own words are `bug`, `bad_result`, `good_result`, `safety_check` and `other`. */
  readonly classification: string;
  readonly reason?: string;
  readonly threadId?: string;
  /** With the server's logs, which can hold what was typed and read. */
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

  /** Writes a report to a ZIP file on the server's machine, which must not be there yet. Nothing leaves the machine. */
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
