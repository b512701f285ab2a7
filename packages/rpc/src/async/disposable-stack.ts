// The parts of the standard `DisposableStack` and `AsyncDisposableStack` that the packages use. Node 22 has neither global;
// once Node 24 is the oldest supported version, removing the imports is enough.

/** Disposes of its resources, newest first. */
export class DisposableStack implements Disposable {
  #disposals: (() => void)[] = [];

  /** Adds a resource, if there is one, and returns it. */
  use<Resource extends Disposable | undefined>(resource: Resource): Resource {
    this.#disposals.push(() => resource?.[Symbol.dispose]());
    return resource;
  }

  /** Adds a function to call. */
  defer(dispose: () => void): void {
    this.#disposals.push(dispose);
  }

  /** Moves everything to a new stack, so that leaving the scope of this one disposes of nothing. */
  move(): DisposableStack {
    const moved = new DisposableStack();
    moved.#disposals = this.#disposals;
    this.#disposals = [];
    return moved;
  }

  dispose(): void {
    const errors: unknown[] = [];
    for (let next = this.#disposals.pop(); next; next = this.#disposals.pop()) {
      try {
        next();
      } catch (error) {
        errors.push(error);
      }
    }
    throwCollected(errors);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Disposes of its resources one after the other, newest first. */
export class AsyncDisposableStack implements AsyncDisposable {
  #disposals: (() => unknown)[] = [];

  /** Adds a resource, if there is one, and returns it. */
  use<Resource extends AsyncDisposable | Disposable | undefined>(resource: Resource): Resource {
    if (resource && Symbol.asyncDispose in resource) this.defer(() => resource[Symbol.asyncDispose]());
    else if (resource) this.defer(() => resource[Symbol.dispose]());
    return resource;
  }

  /** Adds a function to call. */
  defer(dispose: () => unknown): void {
    this.#disposals.push(dispose);
  }

  /** Moves everything to a new stack, so that leaving the scope of this one disposes of nothing. */
  move(): AsyncDisposableStack {
    const moved = new AsyncDisposableStack();
    moved.#disposals = this.#disposals;
    this.#disposals = [];
    return moved;
  }

  async disposeAsync(): Promise<void> {
    const errors: unknown[] = [];
    for (let next = this.#disposals.pop(); next; next = this.#disposals.pop()) {
      try {
        await next();
      } catch (error) {
        errors.push(error);
      }
    }
    throwCollected(errors);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disposeAsync();
  }
}

/** The standard nests errors in a `SuppressedError`, which Node 22 lacks too. */
function throwCollected(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} resources failed to dispose.`);
}
