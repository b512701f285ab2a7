import { type Accessor, createSignal, getListener, onCleanup } from "solid-js";

/** The current time, updated once per second while it has readers, so that an idle page has no timer. */
export function createClock(): Accessor<number> {
  const [now, setNow] = createSignal(Date.now());
  let readers = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  return () => {
    if (!getListener()) return Date.now();
    readers += 1;
    if (timer === undefined) {
      setNow(Date.now());
      timer = setInterval(() => setNow(Date.now()), 1_000);
    }
    onCleanup(() => {
      readers -= 1;
      if (readers > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    return now();
  };
}
