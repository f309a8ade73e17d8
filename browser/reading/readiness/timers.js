// Timers: what scripts have put off and is still to run.
//
// Invariant: what goes on for ever holds no page: of intervals only the first tick is waited for, of chains of timers or
// animation frames the first few links. As long as they change the text, the page is not quiet.
({ activity, callbacks }) => {
  const LONG_TIMER = 2000; // a one-shot timer up to this long is waited for while the page still owes its text
  const TIMER_CHAIN = 5; // a timer set by a timer set by …: from here on it is a ticker
  const BRIEF = 20; // a timer shorter than this is not worth knowing again
  const TICK = 250; // an interval up to this long may be what the text comes by
  const FRAME = 50; // an animation frame that does not come in this time does not come at all: the page is not drawn
  const IDLE = 300; // nor does the browser's idle time
  const { Map } = window;
  const { native: call, now, wrap } = activity;
  const nativeFrame = window.requestAnimationFrame.bind(window);

  const pending = new Map(); // kind and id -> {wait, until, mark}
  const timers = {
    LONG_TIMER,
    onRun: () => {}, // told of a timer's mark before it runs
  };

  // Watch a function that puts a callback off.
  const watch = (name, { kind = "timer", wait, grace = LONG_TIMER, repeats = false }) => {
    wrap(window, name, (native, self, args) => {
      const [callback, ...rest] = args;
      const milliseconds = wait ?? Math.max(0, Number(rest[0]) || 0);
      const level = activity.chain + 1;
      if (level > TIMER_CHAIN || (repeats && milliseconds <= TICK)) activity.opaque = true;
      const counts = level <= TIMER_CHAIN && milliseconds <= LONG_TIMER && typeof callback === "function";
      if (!counts) return call(native, self, args);
      const mark = kind === "timer" && !repeats && milliseconds >= BRIEF ? callbacks.mark(callback, milliseconds) : "";
      let ran = false;
      const run = function (...values) {
        if (!ran) begin();
        return call(callback, this, values);
      };
      const begin = () => {
        ran = repeats;
        pending.delete(key);
        activity.chain = level;
        activity.note();
        if (mark) timers.onRun(mark);
      };
      const id = call(native, self, [run, ...rest]);
      const key = kind + id;
      pending.set(key, { wait: milliseconds, until: now() + milliseconds + grace, mark });
      activity.begun += 1;
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
      pending.delete(kind + args[0]);
      return call(native, self, args);
    });
  }

  // Observers of sizes and of what is in view tell of it in the frame after the one in which they were set up.
  const awaitObservers = () => {
    activity.scripted = true;
    pending.set("observers", { wait: 0, until: now() + FRAME, mark: "" });
    nativeFrame(() => nativeFrame(() => pending.delete("observers")));
  };
  for (const name of ["IntersectionObserver", "ResizeObserver"]) {
    wrap(window[name]?.prototype, "observe", (native, self, args) => {
      if (!pending.has("observers")) awaitObservers();
      return call(native, self, args);
    });
  }

  // Whether one is still to run that counts.
  timers.wait = (counts) => {
    const time = now();
    for (const [key, timer] of pending) {
      if (time > timer.until) pending.delete(key);
      else if (counts(timer)) return true;
    }
    return false;
  };

  return { timers };
}
