// Activity: what is under way on the page, and when something last happened.
//
// Invariant: the page cannot tell that it is watched by anything it does. Every wrapped function is a Proxy that calls the
// native one with the same receiver and arguments, throws what it throws and prints as it prints.
() => {
  // Kept now, since a page may put its own (fake clocks, zone.js) in their place.
  const { Map, Proxy, Reflect } = window;
  const now = performance.now.bind(performance);

  const activity = {
    last: now(), // in milliseconds, as all times and durations here
    scripted: false, // a script used something that is watched
    opaque: false, // or something whose end cannot be watched
    chain: 0, // how deep in a chain of timers the running code is
    begun: 0, // how many things were begun by now
    parsed: 0, // when the parser was done with the document; 0 while it is not
    pending: new Map(), // item -> item, in order of start
    native: Reflect.apply,
    now,
    timeout: window.setTimeout.bind(window),
    postTask: window.scheduler.postTask.bind(window.scheduler),
  };

  activity.note = () => {
    activity.last = now();
  };

  // Call `apply(native, self, args)` in place of a native function.
  activity.wrap = (owner, name, apply) => {
    const native = owner?.[name];
    if (typeof native === "function") owner[name] = new Proxy(native, { apply });
  };

  activity.begin = (kind, { element = null, url = "" } = {}) => {
    const item = { kind, element, url, since: now(), reading: 0 };
    activity.pending.set(item, item);
    activity.begun += 1;
    activity.scripted ||= element === null;
    return item;
  };

  activity.end = (item) => {
    if (!item || !activity.pending.delete(item)) return;
    activity.chain = 0;
    activity.note();
  };

  return { activity };
}
