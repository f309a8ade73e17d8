// Init script: runs before any other script in every document and counts what can still change the page's text. What it is
// made of stands in the folder `readiness`; each part is a function that takes the parts before it and returns itself
// under its name.
//
// Invariant: each frame watches itself; the top frame asks the frames it may look into.
(_, parts) => {
  const key = Symbol.for("speccache.readiness");
  if (window[key]) return;
  const readiness = { key, listeners: window[Symbol.for("speccache.listeners")] };
  for (const part of parts) Object.assign(readiness, part(readiness));
  Object.defineProperty(window, key, { value: Object.freeze(readiness.watcher) });
}
