// Timers: what scripts have put off and is still to run.
//
// Invariant: what goes on for ever holds no page: of intervals only the first tick is waited for, of chains of timers or
// animation frames the first few links. As long as they change the text, the page is not quiet.
({ activity }) => {
  const LONG_TIMER = 2000; // a one-shot timer up to this long is waited for while the page still owes its text
  const TIMER_CHAIN = 5; // a timer set by a timer set by …: from here on it is a ticker
  const TICK = 250; // an interval up to this long may be what the text comes by
  const FRAME = 50; // an animation frame that does not come in this time does not come at all: the page is not drawn
  const IDLE = 300; // nor does the browser's idle time
  const { Map } = window;
  const { native: call, now, wrap } = activity;
  const nativeFrame = window.requestAnimationFrame.bind(window);

  const timers = new Map(); // kind and id -> {wait, until}

  // Watch a function that puts a callback off.
  const watch = (name, { kind = "timer", wait, grace = LONG_TIMER, repeats = false }) => {
    wrap(window, name, (native, self, args) => {
      const [callback, ...rest] = args;
      const milliseconds = wait ?? Math.max(0, Number(rest[0]) || 0);
      const level = activity.chain + 1;
      if (level > TIMER_CHAIN || (repeats && milliseconds <= TICK)) activity.opaque = true;
      const counts = level <= TIMER_CHAIN && milliseconds <= LONG_TIMER && typeof callback === "function";
      if (!counts) return call(native, self, args);
      let ran = false;
      const run = function (...values) {
        if (!ran) begin();
        return call(callback, this, values);
      };
      const begin = () => {
        ran = repeats;
        timers.delete(key);
        activity.chain = level;
        activity.note();
      };
      const id = call(native, self, [run, ...rest]);
      const key = kind + id;
      timers.set(key, { wait: milliseconds, until: now() + milliseconds + grace });
      activity.scripted = true;
      return id;
    });
  };
  watch("setTimeout", {});
  watch("setInterval", { repeats: true });
  watch("requestAnimationFrame", { kind: "frame", wait: 0, grace: FRAME });
  watch("requestIdleCallback", { kind: "idle", wait: 0, grace: IDLE });

  const cancels = {
    ...{ clearTimeout: "timer", clearInterval: "timer" },
    ...{ cancelAnimationFrame: "frame", cancelIdleCallback: "idle" },
  };
  for (const [name, kind] of Object.entries(cancels)) {
    wrap(window, name, (native, self, args) => {
      timers.delete(kind + args[0]);
      return call(native, self, args);
    });
  }

  // Observers of sizes and of what is in view tell of it in the frame after the one in which they were set up.
  const awaitObservers = () => {
    activity.scripted = true;
    timers.set("observers", { wait: 0, until: now() + FRAME });
    nativeFrame(() => nativeFrame(() => timers.delete("observers")));
  };
  for (const name of ["IntersectionObserver", "ResizeObserver"]) {
    wrap(window[name]?.prototype, "observe", (native, self, args) => {
      if (!timers.has("observers")) awaitObservers();
      return call(native, self, args);
    });
  }

  // Whether one is still to run that is no longer than this.
  const wait = (patience) => {
    const time = now();
    for (const [key, timer] of timers) {
      if (time > timer.until) timers.delete(key);
      else if (timer.wait <= patience()) return true;
    }
    return false;
  };

  return { timers: { LONG_TIMER, wait } };
}
