import type { v1, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { checkAbsolute } from "./absolute-path.ts";
import { type FileSearch, startFileSearch } from "./file-search.ts";
import { type FileWatch, watchFiles } from "./file-watch.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** File access on the server's machine, without a sandbox. Paths are absolute. */
export class Files {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /** Reads a file. */
  async read(path: string, options: CallOptions = {}): Promise<Uint8Array> {
    const { dataBase64 } = await this.#caller.request("fs/readFile", { path: checkAbsolute(path) }, options);
    return Buffer.from(dataBase64, "base64");
  }

  /** Reads a file as UTF-8 text. */
  async readText(path: string, options: CallOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.read(path, options));
  }

  /** Writes a file, replacing its contents. Its folder must exist. */
  async write(path: string, data: Uint8Array | string, options: CallOptions = {}): Promise<void> {
    const dataBase64 = Buffer.from(data as Uint8Array).toString("base64");
    await this.#caller.request("fs/writeFile", { path: checkAbsolute(path), dataBase64 }, options);
  }

  /** Reads a path's metadata. */
  async stat(path: string, options: CallOptions = {}): Promise<v2.FsGetMetadataResponse> {
    return this.#caller.request("fs/getMetadata", { path: checkAbsolute(path) }, options);
  }

  /** Lists a folder's entries. */
  async list(path: string, options: CallOptions = {}): Promise<v2.FsReadDirectoryEntry[]> {
    const { entries } = await this.#caller.request(
      "fs/readDirectory",
      { path: checkAbsolute(path) },
      options,
    );
    return entries;
  }

  /** Creates a folder, and its parents unless `recursive` is false. */
  async mkdir(
    path: string,
    { recursive = true, ...options }: CallOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    await this.#caller.request("fs/createDirectory", { path: checkAbsolute(path), recursive }, options);
  }

  /** Removes a file. A non-empty folder needs `recursive`; a path that may not exist needs `force`. */
  async remove(
    path: string,
    {
      recursive = false,
      force = false,
      ...options
    }: CallOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    // Explicit, because the server's defaults are those of `rm -rf`.
    await this.#caller.request("fs/remove", { path: checkAbsolute(path), recursive, force }, options);
  }

  /** Copies a file, or a folder with `recursive`. */
  async copy(
    from: string,
    to: string,
    { recursive = false, ...options }: CallOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    const paths = { sourcePath: checkAbsolute(from), destinationPath: checkAbsolute(to) };
    await this.#caller.request("fs/copy", { ...paths, recursive }, options);
  }

  /**
   * Watches a file or the direct children of a folder. The path need not exist yet.
   * @example
   * await using watch = await codex.files.watch("/repo");
   * for await (const { paths } of watch) console.log(paths);
   */
  async watch(path: string, options: CallOptions = {}): Promise<FileWatch> {
    return watchFiles(this.#caller, checkAbsolute(path), options);
  }

  /** Finds files below the roots whose path contains the query's letters in order. The best match comes first. */
  async search(
    query: string,
    { roots, ...options }: CallOptions & { readonly roots: readonly string[] },
  ): Promise<v1.FuzzyFileSearchResult[]> {
    const absolute = roots.map((root) => checkAbsolute(root, "A root"));
    const { files } = await this.#caller.request(
      "fuzzyFileSearch",
      { query, roots: absolute, cancellationToken: null },
      options,
    );
    return files;
  }

  /** Starts a search whose query can change while the user types. The roots are read only once. */
  async startSearch({
    roots,
    ...options
  }: CallOptions & { readonly roots: readonly string[] }): Promise<FileSearch> {
    return startFileSearch(
      this.#caller,
      roots.map((root) => checkAbsolute(root, "A root")),
      options,
    );
  }
}
