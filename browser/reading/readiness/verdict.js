// Verdict: whether the page can be read by now, and which condition ended the wait.
//
// Invariant: what is seen to be pending is waited for whatever is known of the page. Earlier loads only bear on how much
// quiet is asked for where something is in use whose end cannot be seen.
({ activity, address, changes, effects, fullness, key, listeners, requests, resources, sources, timers }) => {
  // All durations in milliseconds.
  const QUIET = 50; // nothing happened for this long
  const QUIET_THIN = 300; // the same while there is hardly any text
  const QUIET_EMPTY = 1000; // the same while there is none
  const QUIET_LATE = 1500; // the most that is asked for because text has come late before
  const SHORT_TIMER = 250; // a one-shot timer up to this long is always waited for
  const ANSWER_TIMER = 600; // and up to this long where the page was acted on: inputs are debounced
  const LOAD = 300; // how long after it is parsed listeners may wait for the last image
  const STALE = { request: 2000, script: 2000, foreign: 800, style: 1500, frame: 2000, navigation: Infinity };
  const UNENDING = 1500; // a request that outlives this much quiet is taken for one that never ends
  const SEEN_CHARACTERS = 2000; // of the text, by which a later load is compared with this one

  const { Promise, Set } = window;
  const { now, pending, postTask } = activity;

  let asked = now(); // when the page was born, or was last acted on
  let acted = -Infinity; // when it was last acted on
  let patience = SHORT_TIMER;
  let known = { polls: new Set(), characters: 0, late: 0, vain: new Set() }; // from earlier loads
  let judged = { vain: [], fruitful: [] }; // what this load saw of timers that change looks
  let unending = []; // requests that this load saw never end
  let deadline = 0;
  let calm = null; // since when nothing is seen to be pending
  let late = 0; // the longest time after which text changed although nothing was

  // An address without its query, in which polls send a time or a counter; empty for what is none.
  const place = (url) => {
    if (!URL.canParse(url, document.baseURI)) return "";
    const { origin, pathname } = new URL(url, document.baseURI);
    return origin + pathname;
  };

  // Requests that were not waited for to their end while nothing else happened. A page that is empty, or says that it is
  // loading, may well owe its text to such a request.
  const findUnending = () => {
    const time = now();
    const old = [...pending.keys()].filter(({ url, since }) => url && time - since >= STALE.request);
    if (!old.length || time - activity.last < UNENDING || fullness.count() === 0 || fullness.saysLoading()) return [];
    return [...new Set(old.map(({ url }) => place(url)).filter(Boolean))];
  };

  const waitsForRequest = (time) => {
    for (const item of pending.keys()) {
      if (item.element && !item.element.isConnected) pending.delete(item);
      else if (known.polls.size && item.url && known.polls.has(place(item.url))) continue;
      else if (time - item.since <= STALE[item.kind] || (item.kind !== "style" && fullness.isThin())) return true;
    }
    return false;
  };

  // Timers that brought nothing before are waited for where the page owes its text, as all are.
  const waitsForTimer = () =>
    timers.wait(({ wait, mark }) =>
      fullness.owes() ? wait <= timers.LONG_TIMER : wait <= patience && !known.vain.has(mark),
    );

  // An object is a frame once its document begins to come; until then only the document's own load tells of it.
  const holdsObjects = () => document.readyState !== "complete" && document.querySelector("object[data]") !== null;

  const waitsForLoad = (time) =>
    (document.readyState !== "complete" && listeners.awaitLoad() && time - activity.parsed < LOAD) ||
    (holdsObjects() && time - activity.parsed < STALE.frame);

  const waitsForFrame = () => {
    for (let index = 0; index < window.length; index += 1) {
      try {
        if (window[index][key]?.busy()) return true;
      } catch {
        // A frame of another origin: its text is read, or not, through its own frame.
      }
    }
    return false;
  };

  // How long nothing may have happened. Where everything in use can be watched, that nothing is pending is proof enough.
  const quiet = () => {
    const wasActedOn = acted > -Infinity;
    if (!wasActedOn && !activity.opaque && !sources.mayImport(fullness.isThin())) return 0;
    const usual = fullness.count() === 0 ? QUIET_EMPTY : fullness.owes() ? QUIET_THIN : QUIET;
    if (known.late > 0) return Math.max(usual, Math.min(2 * known.late, QUIET_LATE));
    const isAsBefore = known.characters > 0 && fullness.count(known.characters) >= known.characters;
    return isAsBefore && !wasActedOn ? 0 : usual;
  };

  const isStatic = () =>
    !activity.scripted &&
    !address.refreshes() &&
    window.length === 0 &&
    !holdsObjects() &&
    ![...document.scripts].some(resources.runs) &&
    !document.querySelector("[onload], [onerror]");

  // What ended the wait, or null while it goes on.
  const verdict = () => {
    if (!activity.parsed) {
      // The first, empty document of a frame is complete from the start.
      if (document.readyState !== "complete") return null;
      changes.begin();
    }
    const time = now();
    if (waitsForRequest(time)) return null;
    if (time - acted >= QUIET && isStatic()) return "static"; // a form is sent a little after it was submitted
    if (waitsForTimer() || address.refreshComes() || waitsForFrame() || waitsForLoad(time)) return null;
    calm ??= time;
    return time - activity.last < quiet() ? null : "settled";
  };

  changes.onChange = () => {
    if (calm !== null) late = Math.max(late, now() - calm);
    calm = null;
  };

  // Wait until the page can be read, and say what ended the wait.
  const ready = (capMilliseconds, { refresh = "", polls = [], characters = 0, lateMilliseconds = 0, vainTimers = [] } = {}) =>
    new Promise((resolve) => {
      let done = false;
      address.refresh = refresh;
      known = { polls: new Set(polls), characters, late: lateMilliseconds, vain: new Set(vainTimers) };
      const finish = (reason) => {
        done = true;
        unending = findUnending();
        judged = effects.judge();
        resolve(reason);
      };
      deadline = asked + capMilliseconds;
      activity.timeout(() => finish("cap"), Math.max(0, deadline - now()));
      // A background task runs only when nothing else wants the thread, so a framework that renders in slices is never
      // taken for a quiet page, and what listens for the end of parsing has run.
      const lookAgain = (delay) => postTask(look, { priority: "background", delay });
      const look = () => {
        if (done) return;
        const reason = verdict();
        if (reason) finish(reason);
        else lookAgain(10);
      };
      const begin = () => (verdict() === "static" ? finish("static") : lookAgain(0));
      if (activity.parsed || document.readyState === "complete") begin();
      else document.addEventListener("DOMContentLoaded", begin, { capture: true, once: true });
    });

  // Someone is about to act on the page: what it does from now on is the answer, and the cap counts from here.
  const act = () => {
    asked = acted = now();
    patience = ANSWER_TIMER;
    activity.chain = 0;
    requests.forget();
    activity.note();
  };

  const watcher = {
    act,
    stay: address.stay,
    ready,
    busy: () => verdict() === null,
    waits: () => waitsForRequest(now()) || waitsForTimer(),
    polls: () => unending,
    deadline: () => deadline,
    // What a later load may know of this one: how much text there was, how late some of it came,
    // and which timers brought any.
    habit: () => ({
      characters: quiet() > 0 ? fullness.count(SEEN_CHARACTERS) : 0,
      lateMilliseconds: late,
      vainTimers: judged.vain,
      fruitfulTimers: judged.fruitful,
    }),
  };

  return { watcher };
}
