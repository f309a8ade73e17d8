// Effects: whether timers that ran brought anything that is read.
//
// Invariant: a timer is held to bring something if anything at all came, or began, between its run and the decision.
({ activity, changes, fullness, timers }) => {
  const before = new Map(); // mark of a timer -> what there was when it was about to run

  const state = () => `${activity.begun} ${changes.count} ${fullness.sight()}`;

  timers.onRun = (mark) => {
    if (!before.has(mark)) before.set(mark, state());
  };

  const judge = () => {
    const vain = [];
    const fruitful = [];
    const after = before.size ? state() : "";
    for (const [mark, was] of before) (was === after ? vain : fruitful).push(mark);
    return { vain, fruitful };
  };

  return { effects: { judge } };
}
