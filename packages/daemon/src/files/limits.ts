/** Limits of the files of sessions. */
export interface FileLimits {
  /** Bytes of a file that is written. Default: 64 MiB. */
  readonly writeBytes: number;
  /** Bytes of an uploaded image. Default: 20 MiB. */
  readonly imageBytes: number;
  /** Uploaded images per session. Default: 500. */
  readonly imagesPerSession: number;
  /** Files that are being served at the same time. Default: 256. */
  readonly openReads: number;
  /** Folders that one stream of changes watches. Default: 2,000. */
  readonly watchedFolders: number;
  /** Paths in one message of a stream of changes. If more have changed, the message says so instead. Default: 1,000. */
  readonly changedPaths: number;
  /** How long changes are collected before they are sent, in milliseconds. Default: 100. */
  readonly collectMs: number;
}

export const FILE_LIMITS: FileLimits = {
  writeBytes: 64 * 1024 * 1024,
  imageBytes: 20 * 1024 * 1024,
  imagesPerSession: 500,
  openReads: 256,
  watchedFolders: 2000,
  changedPaths: 1000,
  collectMs: 100,
};
