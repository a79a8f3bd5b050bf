// The page of a document: one of a command on a model, of proofs, or of a threshold automaton.

const viewers = [];

function viewed(run, title, level) {
  const viewer = new Viewer(run, title, level);
  viewers.push(viewer);
  return viewer.built;
}

function facts(entries) {
  const shown = entries.filter(([, value]) => value !== null && value !== "" && value !== undefined);
  return html("dl", { class: "facts" }, ...shown.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

function listed(values) {
  return Object.entries(values).map(([name, value]) => `${name} ${value}`).join(", ");
}

function heading(what, title, verdict, cached = false) {
  return html("header", {}, html("p", { class: "quiet" }, what),
    html("h1", {}, title, " ", verdict ? badge(verdict, cached) : null));
}

function named(about, text) {
  return html("p", {}, html("code", {}, about), ` \u2014 ${text}`);
}

function modelFacts(found) {
  const options = listed(found.options);
  return [["model", found.model], ["options", options], ["parameters", pairs(found.parameters)],
    ["figures", listed(found.statistics)], ["seconds", String(found.seconds)]];
}

function resultPage(found) {
  document.title = `${found.property}: ${found.verdict}`;
  const page = [heading(`fdverify ${found.command}`, found.property, found.verdict)];
  page.push(html("p", { class: "lead" }, found.detail), html("p", {}, found.meaning));
  page.push(facts([...modelFacts(found), ["version", found.version]]));
  if (found.trace !== null) page.push(viewed(detectorRun(found.trace), "The run", 2));
  if (found.obligations.length) {
    page.push(html("section", {}, html("h2", {}, "Obligations"), table("obligations", ["obligation", "kind", "verdict", "seconds"],
      found.obligations.map((each) => [each.name, each.kind, badge(each.verdict), String(each.seconds)]))));
  }
  return page;
}

function proofsPage(found) {
  const one = found.proofs.length === 1 ? found.proofs[0] : null;
  const verdict = (proof) => proof.verdict || "error";
  document.title = one ? `${one.proof}: ${verdict(one)}` : counted(found.proofs.length, "proof");
  const page = [heading("verify-invariant", one ? one.proof : counted(found.proofs.length, "proof"), one ? verdict(one) : null, one && isFromCache(one))];
  if (!one) {
    page.push(table("proofs", ["proof", "verdict", "obligations", "seconds"], found.proofs.map((proof, number) => [
      html("a", { href: `#proof-${number}` }, proof.proof), badge(verdict(proof), isFromCache(proof)), String(proof.obligations.length), String(proof.seconds)])));
  }
  found.proofs.forEach((proof, number) => page.push(proofSection(proof, number, one !== null)));
  page.push(facts([["solver", found.solver], ["version", found.version], ["seconds", String(found.seconds)], ["exit code", String(found.exit_code)]]));
  return page;
}

function proofSection(proof, number, alone) {
  const built = html("section", { id: `proof-${number}` });
  const level = alone ? 2 : 3;
  if (!alone) built.append(html("h2", {}, proof.proof, " ", badge(proof.verdict || "error", isFromCache(proof))));
  built.append(html("p", { class: "lead" }, proof.error === null ? proof.detail : proof.error));
  if (proof.error !== null) return built;
  built.append(named(proof.property, proof.meaning));
  built.append(facts([["file", proof.file], ...modelFacts(proof)]));
  for (const [name, meaning] of Object.entries(proof.assumptions)) built.append(html("p", {}, "assuming ", html("code", {}, name), `: ${meaning}`));
  for (const note of proof.notes) built.append(html("p", {}, `note: ${note}`));
  if (proof.reduction !== null) built.append(argument(proof, level));
  for (const obligation of proof.obligations) {
    if (obligation.failure !== null) built.append(failure(obligation, level));
  }
  if (proof.dead_end !== null) built.append(viewed(detectorRun(proof.dead_end), "A run after which no round is possible", level));
  for (const witness of proof.witnesses) built.append(viewed(detectorRun(witness.run), `A run at the end of which ${witness.shows}`, level));
  if (proof.suggestions.length || proof.suggestion_note) built.append(suggestions(proof, level));
  built.append(obligations(proof, level));
  return built;
}

// A liveness proof as a tree: the goal, what it rests on, what it assumes and what it bounds.
function argument(proof, level) {
  const premise = (each) => html("li", {}, badge(each.verdict), " ", html("code", {}, each.name), ` ${each.meaning}`);
  const branches = proof.premises.map(premise);
  const fairness = Object.values(proof.fairness);
  if (fairness.length) {
    branches.push(html("li", {}, "assuming fairness: again and again,", html("ul", {}, ...fairness.map((each) => html("li", {}, each)))));
  }
  if (proof.bounds.length) {
    const bound = (each) => html("li", {}, `${each.of}: `, html("code", {}, each.formula), each.remark ? ` (${each.remark})` : "");
    branches.push(html("li", {}, "bounds", html("ul", { class: "bounds" }, ...proof.bounds.map(bound))));
  }
  return html("section", { class: "argument" }, html(`h${level}`, {}, "The argument"), html("ul", { class: "tree" },
    html("li", {}, badge(proof.verdict), " ", html("code", {}, proof.property), ` by ${proof.reduction}`, html("ul", {}, ...branches))));
}

function failure(obligation, level) {
  const { says, step, reached, run, hint } = obligation.failure;
  const built = html("section", { class: "failure" }, html(`h${level}`, {}, `${obligation.name} fails `, badge(obligation.verdict)));
  built.append(html("p", { class: "lead" }, says), named(obligation.about, obligation.meaning));
  if (obligation.source !== null) built.append(html("p", { class: "quiet" }, html("code", {}, obligation.source)));
  built.append(html("p", {}, reached), viewed(detectorRun(step), "The step", level + 1));
  if (run !== null && JSON.stringify(run) !== JSON.stringify(step)) built.append(viewed(detectorRun(run), "The run to it", level + 1));
  if (hint !== null) built.append(html("p", { class: "hint" }, `hint: ${hint}`));
  return built;
}

function suggestions(proof, level) {
  const built = html("section", {}, html(`h${level}`, {}, "Suggested"));
  for (const found of proof.suggestions) {
    const rest = found.unproved.length ? `; not proved even so: ${found.unproved.join(", ")}` : "";
    built.append(html("p", {}, `${found.proves ? "with these it is a proof" : "these help"}${rest}`));
    built.append(html("pre", { tabindex: 0 }, [...found.imports, "", ...found.conjuncts.map((each) => each.source)].join("\n")));
  }
  if (proof.suggestion_note) built.append(html("p", {}, proof.suggestion_note));
  return built;
}

function isFromCache(proof) {
  const decided = proof.obligations.filter((each) => each.kind !== "vacuity");
  return decided.length > 0 && decided.every((each) => each.cached);
}

function obligations(proof, level) {
  const unproved = proof.obligations.filter((each) => each.verdict !== "proved").length;
  const rows = proof.obligations.map((each) => [html("code", {}, each.name), badge(each.verdict, each.cached), each.kind,
    [each.meaning, each.detail, each.smtlib && `its SMT-LIB text is kept in ${each.smtlib}`].filter(Boolean).join("; "), each.source === null ? "" : html("code", {}, each.source), each.cached ? "cached" : String(each.seconds)]);
  const all = html("details", { open: unproved > 0 }, html("summary", {}, `${proof.obligations.length} obligations, ${unproved ? `${unproved} not proved` : "all proved"}`),
    table("obligations", ["obligation", "verdict", "kind", "says", "where", "seconds"], rows));
  return html("section", {}, html(`h${level}`, {}, "Obligations"), all);
}

function thresholdPage(found) {
  const word = (each) => each.verdict || "refused";
  const verdicts = [...new Set(found.specifications.map(word))];
  document.title = `${found.model}: ${verdicts.join(", ")}`;
  const page = [heading("fdverify threshold check", found.model, verdicts.length === 1 ? verdicts[0] : null)];
  page.push(facts([["file", found.file], ["assuming", found.assumptions.join(", ")], ["parameters", pairs(found.parameters)],
    ["automaton", listed(found.statistics)], ["driver", found.driver], ["second opinion", found.second_opinion],
    ["seconds", String(found.seconds)], ["version", found.version]]));
  for (const each of found.specifications) {
    const built = html("section", {}, html("h2", {}, each.name, " ", badge(word(each))), html("p", { class: "lead" }, each.detail));
    built.append(html("p", {}, html("code", { class: "formula" }, each.formula)));
    if (each.smtlib !== null) built.append(html("p", {}, "its SMT-LIB text is kept in ", html("code", {}, each.smtlib)));
    if (each.trace !== null) built.append(viewed(thresholdRun(each.trace, found.locations, found.shared), "The run", 3));
    page.push(built);
  }
  return page;
}

// What has no page of its own: the text as in a terminal, and the runs to step through.
function textPage(found) {
  const title = `fdverify ${found.command}`;
  document.title = found.verdict ? `${title}: ${found.verdict}` : title;
  const page = [heading("fdverify", found.command, found.verdict || null)];
  page.push(html("pre", { tabindex: 0 }, JSON.parse(document.getElementById("text").textContent)));
  for (const run of runsIn(found)) page.push(viewed(detectorRun(run), "A run", 2));
  page.push(facts([["version", found.version]]));
  return page;
}

function runsIn(part) {
  if (part === null || typeof part !== "object") return [];
  if (Array.isArray(part.steps) && Array.isArray(part.channels)) return [part];
  return Object.values(part).flatMap(runsIn);
}

const found = parsed(document.getElementById("document").textContent);
const PAGES = { "verify-invariant": proofsPage, "threshold check": thresholdPage };
const pageOf = (document) => PAGES[document.command] || (document.meaning && document.statistics ? resultPage : textPage);
document.getElementById("report").replaceChildren(...pageOf(found)(found));
const drawAll = () => viewers.forEach((viewer) => viewer.draw());
drawAll();
window.addEventListener("resize", drawAll);
