import type { PromptSession } from "../session/session.ts";
import { eventLog } from "../session/session.ts";
import type { TranscriptEntry } from "../transcript/transcript.ts";
import { writeBundle } from "./write-bundle.ts";

export interface BundleRecorderOptions {
  readonly folder: string;
  readonly evaluationId: string;
  readonly prompt: string;
  readonly session: PromptSession;
  /** Receives write failures, which never end an evaluation. */
  readonly onError: (error: unknown) => void;
}

/** Collects what a debug bundle needs while an evaluation runs. */
export class BundleRecorder {
  readonly #options: BundleRecorderOptions;
  readonly #before: unknown;
  readonly #eventsBefore: number;
  readonly #transcript: TranscriptEntry[] = [];

  constructor(options: BundleRecorderOptions) {
    this.#options = options;
    this.#before = options.session.toJSON();
    this.#eventsBefore = options.session.get(eventLog).length;
  }

  readonly addEntry = (entry: TranscriptEntry): void => {
    this.#transcript.push(entry);
  };

  /** Writes the bundle and returns its path; undefined if that failed. */
  async write(
    status: "completed" | "failed",
    content: { readonly request: unknown; readonly output: unknown; readonly diff: string },
    error?: unknown,
  ): Promise<string | undefined> {
    const { folder, evaluationId, prompt, session, onError } = this.#options;
    try {
      return await writeBundle(folder, {
        evaluationId,
        prompt,
        status,
        ...content,
        sessionBefore: this.#before,
        sessionAfter: session.toJSON(),
        events: session.get(eventLog).slice(this.#eventsBefore),
        transcript: this.#transcript,
        error,
      });
    } catch (failure) {
      onError(failure);
      return undefined;
    }
  }
}
