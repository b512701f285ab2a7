/** Limits for the files of sessions. */
export interface FileLimits {
  /** Maximum bytes of a file that is written. Default: 64 MiB. */
  readonly writeBytes: number;
  /** Maximum bytes of an uploaded image. Default: 20 MiB. */
  readonly imageBytes: number;
  /** Maximum bytes of the uploaded images of one message, which are sent to Codex together. Default: 32 MiB. */
  readonly messageImageBytes: number;
  /** Maximum uploaded images per session. Default: 500. */
  readonly imagesPerSession: number;
  /** Maximum files that are served at the same time. Default: 256. */
  readonly openReads: number;
  /** Maximum folders that one stream of changes watches. Default: 2,000. */
  readonly watchedFolders: number;
  /** Maximum paths per message of a stream of changes. If more have changed, an `overflow` message is sent instead. Default: 1,000. */
  readonly changedPaths: number;
  /** How long changes are collected before they are sent, in milliseconds. Default: 100. */
  readonly collectMs: number;
}

export const FILE_LIMITS: FileLimits = {
  writeBytes: 64 * 1024 * 1024,
  imageBytes: 20 * 1024 * 1024,
  messageImageBytes: 32 * 1024 * 1024,
  imagesPerSession: 500,
  openReads: 256,
  watchedFolders: 2000,
  changedPaths: 1000,
  collectMs: 100,
};
