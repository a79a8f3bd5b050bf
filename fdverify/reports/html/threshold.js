// A run of a threshold automaton: a row for each location and each shared variable, and the rule that moved.

const CELL = 26;

function thresholdRun(trace, locations, shared) {
  const values = [trace.start, ...trace.steps.map((step) => step.after)];
  const entered = locations.filter((name) => values.some((after) => after[name] !== 0));
  const empty = locations.filter((name) => !entered.includes(name));
  return {
    parameters: trace.parameters,
    steps: values.map((after, number) => ({
      name: `step ${number} of ${trace.steps.length}`,
      how: number === 0 ? "" : moved(trace.steps[number - 1]),
      values: after,
    })),
    groups: [{ title: "processes in each location", names: entered }, { title: "shared variables", names: shared }]
      .filter((group) => group.names.length > 0),
    ending: whatFollows(trace),
    notes: (number) => (number === 0 ? [] : [{ key: 0, text: `guard of rule ${trace.steps[number - 1].rule}: ${trace.steps[number - 1].guard}`, changed: true }]),
    draw: (room) => drawThreshold(trace, values, entered, shared, room),
    legend: empty.length ? `locations that stay empty are not shown: ${empty.join(", ")}` : "",
  };
}

function moved(step) {
  return `rule ${step.rule}: ${step.source} \u2192 ${step.target}, ${step.processes === 1 ? "1 process" : `${step.processes} processes`}`;
}

function whatFollows(trace) {
  const last = trace.steps.length;
  if (trace.loop === last) return "and from then on nothing moves";
  if (trace.loop + 1 === last) return `step ${last} is taken again and again, for ever`;
  return `steps ${trace.loop + 1} to ${last} are taken again and again, for ever`;
}

function drawThreshold(trace, values, entered, shared, room) {
  const names = [...entered, ...shared];
  const digits = Math.max(...values.flatMap((after) => names.map((name) => String(after[name]).length)));
  const column = Math.min(72, Math.max(Math.max(34, 8 * digits + 20), Math.floor(room / values.length)));
  const drawing = new Drawing(values.length, column);
  drawing.axis(values.map((_, number) => String(number)), trace.loop === trace.steps.length ? values.length : trace.loop + 1);
  const rules = drawing.row(20, "rule", "minor");
  trace.steps.forEach((step, number) => drawing.text(number + 1, rules + 10, String(step.rule), "tick"));
  const middles = new Map();
  const rows = (some, kind) => {
    for (const name of some) {
      const top = drawing.row(CELL + 4, name, "lane");
      middles.set(name, top + CELL / 2);
      values.forEach((after, number) => {
        const changed = number > 0 && after[name] !== values[number - 1][name];
        const state = changed ? "active" : after[name] === 0 ? "idle" : kind;
        drawing.box(number, top, CELL, state, String(after[name]), `${name}, step ${number}: ${after[name]}`);
      });
    }
  };
  rows(entered, "start");
  drawing.row(6);
  rows(shared, "start");
  trace.steps.forEach((step, number) => {
    if (step.source !== step.target) {
      drawing.arrow(drawing.left(number + 1), middles.get(step.source), middles.get(step.target), "link move");
    }
  });
  return drawing.finished();
}
