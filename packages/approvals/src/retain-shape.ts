const retained = new Map<unknown, object>();

/**
 * Keeps one object of a class alive. V8 discards the optimised code of a class at every full garbage collection that
 * finds no instance of it, and the classes of one evaluation have none between two evaluations: without this, a busy
 * process would compile the whole package again after each collection.
 */
export function retainShape(instance: object): void {
  retained.set(instance.constructor, instance);
}
