import type { v1, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { checkAbsolute } from "./absolute-path.ts";
import { type FileSearch, startFileSearch } from "./file-search.ts";
import { type FileWatch, watchFiles } from "./file-watch.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** The files of the server's machine, without a sandbox. Paths are absolute. */
export class Files {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /** The bytes of a file. */
  async read(path: string, options: CallOptions = {}): Promise<Uint8Array> {
    const { dataBase64 } = await this.#caller.request("fs/readFile", { path: checkAbsolute(path) }, options);
    return Buffer.from(dataBase64, "base64");
  }

  /** A file as UTF-8 text. */
  async readText(path: string, options: CallOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.read(path, options));
  }

  /** Writes a whole file; its folder must be there. */
  async write(path: string, data: Uint8Array | string, options: CallOptions = {}): Promise<void> {
    const dataBase64 = Buffer.from(data as Uint8Array).toString("base64");
    await this.#caller.request("fs/writeFile", { path: checkAbsolute(path), dataBase64 }, options);
  }

  /** What is at a path, and when it changed. */
  async stat(path: string, options: CallOptions = {}): Promise<v2.FsGetMetadataResponse> {
    return this.#caller.request("fs/getMetadata", { path: checkAbsolute(path) }, options);
  }

  /** The names in a folder. */
  async list(path: string, options: CallOptions = {}): Promise<v2.FsReadDirectoryEntry[]> {
    const { entries } = await this.#caller.request(
      "fs/readDirectory",
      { path: checkAbsolute(path) },
      options,
    );
    return entries;
  }

  /** Makes a folder, and those above it unless `recursive` is false. */
  async mkdir(
    path: string,
    { recursive = true, ...options }: CallOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    await this.#caller.request("fs/createDirectory", { path: checkAbsolute(path), recursive }, options);
  }

  /** Removes a file. A folder with things in it takes `recursive`, a path that may be missing takes `force`. */
  async remove(
    path: string,
    {
      recursive = false,
      force = false,
      ...options
    }: CallOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    // The server's own defaults are those of `rm -rf`.
    await this.#caller.request("fs/remove", { path: checkAbsolute(path), recursive, force }, options);
  }

  /** Copies a file, or with `recursive` a folder. */
  async copy(
    from: string,
    to: string,
    { recursive = false, ...options }: CallOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    const paths = { sourcePath: checkAbsolute(from), destinationPath: checkAbsolute(to) };
    await this.#caller.request("fs/copy", { ...paths, recursive }, options);
  }

  /**
   * Watches a file, or the direct children of a folder; what is not there yet counts too.
   * @example
   * await using watch = await codex.files.watch("/repo");
   * for await (const { paths } of watch) console.log(paths);
   */
  async watch(path: string, options: CallOptions = {}): Promise<FileWatch> {
    return watchFiles(this.#caller, checkAbsolute(path), options);
  }

  /** The files below the roots whose path has these letters in this order, the best first. */
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

  /** A search whose query changes while somebody types: the roots are read once. */
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
