// Changes: what scripts change of the document's text.
//
// Invariant: a text that is replaced again and again (a clock, a ticker, a carousel) does not hold the page.
({ activity, address, resources }) => {
  const TICKS = 5; // a node replaced more often than this is a ticker
  const { MutationObserver, WeakMap } = window;

  const replacements = new WeakMap(); // node -> how often its content was replaced

  const isTick = ({ type, target, addedNodes, removedNodes }) => {
    if (type === "childList" && !(addedNodes.length && removedNodes.length)) return false;
    const count = (replacements.get(target) ?? 0) + 1;
    replacements.set(target, count);
    return count > TICKS;
  };

  const changes = {
    onChange: () => {}, // told of each
    count: 0,
  };

  const observer = new MutationObserver((records) => {
    let changed = false;
    for (const record of records) {
      changed = !isTick(record) || changed;
      for (const node of record.addedNodes) if (node instanceof Element) resources.watch(node);
    }
    if (!changed || !activity.parsed) return;
    address.owesText = false;
    changes.count += 1;
    changes.onChange();
    activity.note();
  });
  // Attributes are not observed: an animation changes them all the time, and hardly ever the text.
  const observe = (root) => observer.observe(root, { childList: true, characterData: true, subtree: true });

  activity.wrap(window.Element?.prototype, "attachShadow", (native, self, args) => {
    const root = activity.native(native, self, args);
    observe(root);
    return root;
  });

  // While the parser works there is nothing to decide, so its own insertions need not be seen one by one. Deferred scripts
  // run before this event, at which `readyState` has long been "interactive".
  changes.begin = () => {
    if (activity.parsed) return;
    activity.parsed = activity.now();
    resources.watch(document);
    observe(document);
    activity.chain = 0;
    activity.note();
  };
  document.addEventListener("DOMContentLoaded", changes.begin, { capture: true, once: true });

  return { changes };
}
