// A run of a model of rounds: a lane for each process, and messages as bars between the lanes.

const LANE = 26;
const TRACK = 20;
const STRIP = 12;

function detectorRun(trace) {
  const last = trace.steps[trace.steps.length - 1];
  const first_again = trace.steps.findIndex((step) => trace.loop !== null && step.round > trace.loop);
  const owned = new Set(trace.processes.flatMap((process) => [process.pc, ...process.owns]));
  const variables = Object.keys(last.state);
  const groups = trace.processes.map((process) => ({
    title: process.name,
    names: variables.filter((name) => name === process.pc || process.owns.includes(name)),
  }));
  const buffers = trace.channels.map((channel) => channel.buffer);
  groups.push({ title: "in transit", names: buffers });
  groups.push({ title: "other", names: variables.filter((name) => !owned.has(name) && !buffers.includes(name)) });
  groups.push({ title: "shown", names: Object.keys(last.show) });
  return {
    parameters: trace.parameters,
    steps: trace.steps.map((step) => ({
      name: `round ${step.round} of ${last.round}${step.phase === null ? "" : `, ${step.phase}`}`,
      how: chosen(step.choices),
      values: { ...step.state, ...step.show },
    })),
    groups: groups.filter((group) => group.names.length > 0),
    ending: trace.loop === null ? "" : goesOn(trace, last),
    notes: (step) => inTransit(trace, step),
    draw: (room) => drawDetector(trace, room, first_again < 0 ? trace.steps.length : first_again),
    legend: legend(trace),
  };
}

function chosen(choices) {
  const taken = Object.entries(choices).filter(([, value]) => (Array.isArray(value) ? value.length : value !== false));
  return taken.map(([name, value]) => (value === true ? name : `${name} ${words(value)}`)).join(", ");
}

function goesOn(trace, last) {
  const start = trace.steps.filter((step) => step.round === trace.loop).pop();
  const differ = Object.keys(start.state).filter((name) => !same(start.state[name], last.state[name]));
  const but = differ.length ? `, but for ${differ.join(", ")}` : "";
  const from = trace.loop + 1;
  const way = from === last.round ? `round ${from} leads` : `rounds ${from} to ${last.round} lead`;
  return `${way} back to the state after round ${trace.loop}${but}`;
}

function begun(message) {
  return message.sent === null ? 0 : message.sent;
}

function ageAt(message, step) {
  return message.ages[step - begun(message)];
}

function nameOf(trace, step) {
  const { round, phase } = trace.steps[step];
  return phase === null ? `round ${round}` : `round ${round}, ${phase}`;
}

function story(trace, message) {
  const sent = message.sent === null ? "in transit from the start" : `sent in ${nameOf(trace, message.sent)}`;
  if (message.ended === null) return `${sent}, still in transit at the end`;
  const end = nameOf(trace, message.ended);
  if (message.into === null) return `${sent}, ${message.by === null ? "gone" : message.by} in ${end}`;
  const other = trace.messages[message.into];
  const which = other.sent === null ? "there from the start" : `sent in ${nameOf(trace, other.sent)}`;
  return `${sent}, in ${end} of the same age as the one ${which}, which stands for both`;
}

// The messages that are in transit after a step, or end in it.
function inTransit(trace, step) {
  const found = [];
  trace.messages.forEach((message, number) => {
    const age = ageAt(message, step);
    if (age === undefined && message.ended !== step) return;
    const channel = trace.channels.length > 1 ? `${message.buffer}: ` : "";
    const now = age === undefined ? "" : `age ${age}, `;
    found.push({ key: number, text: `${channel}${now}${story(trace, message)}`, changed: age === undefined || message.sent === step });
  });
  return found;
}

// The shortest beginnings that tell the labels apart.
function abbreviations(labels) {
  const short = new Map();
  for (const label of labels) {
    let length = 1;
    while (length < label.length && labels.some((other) => other !== label && other.startsWith(label.slice(0, length)))) length++;
    short.set(label, label.slice(0, length));
  }
  return short;
}

function labelsOf(trace, process) {
  return process.pc === null ? [] : [...new Set(trace.steps.map((step) => step.state[process.pc]))].sort();
}

function legend(trace) {
  const lines = trace.processes.map((process) => {
    const short = [...abbreviations(labelsOf(trace, process))].map(([label, letters]) => `${letters} = ${label}`);
    return short.length ? `${process.name}: ${short.join(", ")}` : "";
  });
  const kinds = trace.messages.length ? ["a bar is a message, the numbers on it are its age"] : [];
  return [...lines.filter(Boolean), ...kinds].join("; ");
}

// Bars that do not overlap share a track.
function tracks(messages, steps) {
  const ends = [];
  const placed = new Map();
  const order = [...messages].sort((one, other) => begun(one) - begun(other));
  for (const message of order) {
    let track = ends.findIndex((end) => end < begun(message));
    if (track < 0) track = ends.length;
    ends[track] = message.ended === null ? steps : message.ended;
    placed.set(message, track);
  }
  return { placed, count: ends.length };
}

function drawDetector(trace, room, loop) {
  const steps = trace.steps.length;
  const ages = trace.messages.flatMap((message) => message.ages);
  const digits = String(ages.reduce((most, age) => Math.max(most, age), 0)).length;
  const column = Math.min(64, Math.max(Math.max(22, 7 * digits + 6), Math.floor(room / steps)));
  const drawing = new Drawing(steps, column);
  drawing.axis(trace.steps.map((step, number) => (number && step.round === trace.steps[number - 1].round ? "" : String(step.round))), loop);
  const place = new Map(trace.processes.map((process, index) => [process.name, index]));
  const upper = (channel) => Math.min(...[channel.sender, channel.receiver].map((name) => place.get(name) ?? Infinity));
  const lanes = new Map();
  const transit = [];
  const reserve = (channels) => {
    for (const channel of channels) {
      const messages = trace.messages.filter((message) => message.buffer === channel.buffer);
      const { placed, count } = tracks(messages, steps);
      drawing.row(8);
      const top = drawing.row(TRACK * Math.max(1, count), channel.buffer, "minor");
      drawing.row(8);
      transit.push({ channel, messages, placed, top });
    }
  };
  trace.processes.forEach((process, index) => {
    const top = drawing.row(LANE, process.name, "lane");
    const flags = process.owns.filter((name) => trace.steps.some((step) => step.state[name] === true));
    const strips = flags.map((name) => ({ name, top: drawing.row(STRIP + 3, name, "minor") }));
    lanes.set(process.name, { top, bottom: drawing.height });
    drawLane(drawing, trace, process, top, strips);
    reserve(trace.channels.filter((channel) => upper(channel) === index));
  });
  reserve(trace.channels.filter((channel) => upper(channel) === Infinity));
  const tops = new Map();
  for (const { messages, placed, top } of transit) {
    for (const message of messages) tops.set(message, top + placed.get(message) * TRACK + 2);
  }
  for (const { channel, messages } of transit) {
    for (const message of messages) drawEnds(drawing, trace, channel, message, tops, lanes);
  }
  for (const message of trace.messages) drawBar(drawing, trace, message, tops.get(message));
  drawing.row(4);
  return drawing.finished();
}

function drawLane(drawing, trace, process, top, strips) {
  const short = abbreviations(labelsOf(trace, process));
  trace.steps.forEach((step, number) => {
    const label = process.pc === null ? "" : step.state[process.pc];
    const fits = 7 * label.length + 8 <= drawing.column;
    const active = process.active !== null && step.choices[process.active] === true;
    const events = process.owns.filter((name) => step.choices[name] === true);
    const kind = number === 0 ? "start" : events.length ? "event" : active ? "active" : "idle";
    const what = kind === "idle" && process.active !== null ? "idle" : [active ? "active" : "", ...events].filter(Boolean).join(", ");
    const title = `${process.name}, ${nameOf(trace, number)}: ${[label, what].filter(Boolean).join(", ")}`;
    drawing.box(number, top, LANE, kind, fits ? label : short.get(label) || "", title);
    for (const strip of strips) {
      if (step.state[strip.name] === true) {
        drawing.add("rect", { class: "strip", x: drawing.left(number), y: strip.top + 4, width: drawing.column, height: 6 },
          svg("title", {}, `${strip.name}, ${nameOf(trace, number)}`));
      }
    }
  });
}

function fate(trace, channel, message) {
  if (message.ended === null) return "open";
  if (message.into !== null) return "merged";
  return message.by !== null && message.by === channel.delivered ? "delivered" : "lost";
}

function drawEnds(drawing, trace, channel, message, tops, lanes) {
  const middle = tops.get(message) + 8;
  const lane = (name) => {
    const found = lanes.get(name);
    return found === undefined ? null : found.top < middle ? found.bottom : found.top;
  };
  const sender = lane(channel.sender);
  const receiver = lane(channel.receiver);
  if (message.sent !== null && sender !== null) {
    drawing.add("path", { class: "link", d: `M${drawing.middle(message.sent)} ${sender}V${middle}` });
  }
  if (fate(trace, channel, message) === "delivered" && receiver !== null) {
    drawing.arrow(drawing.middle(message.ended), middle, receiver, "link");
  }
  if (message.into !== null) {
    const other = tops.get(trace.messages[message.into]) + 8;
    drawing.add("path", { class: "link merging", d: `M${drawing.middle(message.ended)} ${middle}V${other}` });
  }
}

function drawBar(drawing, trace, message, top) {
  const channel = trace.channels.find((each) => each.buffer === message.buffer);
  // What began before the run or goes on after it reaches beyond the edge; around a number there is some room.
  const from = message.sent === null ? -10 : drawing.middle(message.sent) - 10;
  const end = message.ended === null ? drawing.left(drawing.steps) + 10 : drawing.middle(message.ended);
  const to = message.ages.length ? end : from + 20;
  const kind = fate(trace, channel, message);
  const group = drawing.add("g", {
    class: `message ${kind}`,
    "data-from": message.sent ?? "", "data-to": message.ended ?? "", "data-buffer": message.buffer,
  });
  group.append(svg("title", {}, story(trace, message)));
  group.append(svg("rect", { x: from, y: top, width: to - from, height: 16, rx: 8 }));
  message.ages.forEach((age, index) => {
    const step = begun(message) + index;
    const text = svg("text", { x: drawing.middle(step), y: top + 8 }, String(age));
    drawing.marks[step].push(text);
    group.append(text);
  });
  if (kind === "lost") {
    group.append(svg("path", { class: "cross", d: `M${to - 9} ${top + 5}l6 6m0 -6l-6 6` }));
  }
}
