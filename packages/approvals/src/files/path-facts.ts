/** What the file system says about paths, looked up beforehand so that the judgement itself does no I/O. */
export interface PathFacts {
  /**
   * Absolute path as it is used, `..` included → where it leads once all links are followed. `null`: it could not be
   * followed (a loop, no permission, a link of a process).
   */
  readonly real: Readonly<Record<string, string | null>>;
  /** Absolute file name pattern → the absolute paths that match. `null`: too many to list. */
  readonly matches?: Readonly<Record<string, readonly string[] | null>> | undefined;
  /** The volume takes `A` and `a` for the same name. */
  readonly caseInsensitive?: boolean | undefined;
}
