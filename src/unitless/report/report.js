"use strict";
// Draws the figures, and saves them as SVG or CSV. The specifications are in the page itself.
const figures = JSON.parse(document.getElementById("figures").textContent);
const variable = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Colours are variables of the page, so that light, dark and paper need no second drawing.
const soft = { labelColor: "currentColor", titleColor: "currentColor", titleFontWeight: "normal" };
const config = {
  background: null, font: "system-ui, sans-serif", view: { stroke: null },
  axis: { ...soft, gridColor: "currentColor", gridOpacity: 0.13, domainColor: "currentColor",
    tickColor: "currentColor", labelFontSize: 11, titleFontSize: 12, domainOpacity: 0.4, tickOpacity: 0.4 },
  legend: { ...soft, labelFontSize: 11, columnPadding: 8, symbolStrokeWidth: 3 },
  axisX: { titleAnchor: "end" },
  range: { category: [0, 1, 2, 3, 4, 5, 6, 7].map(k => `var(--c${k})`) },
};

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function csvOf(records) {
  const names = [...new Set(records.flatMap(Object.keys))];
  const cell = value => /[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : value ?? "";
  return [names, ...records.map(record => names.map(name => record[name]))]
    .map(row => row.map(cell).join(",")).join("\n") + "\n";
}

async function standalone(view) {
  const text = await view.toSVG();
  return text.replaceAll(/var\((--\w+)\)/g, (_, name) => variable(name)).replaceAll("currentColor", variable("--ink"));
}

function logarithmic(spec, on) {
  const copy = structuredClone(spec);
  if (on) copy.encoding.x.scale = { type: "log", nice: false };
  return copy;
}

const views = new Map();  // by box

async function draw(box, figure) {
  const place = box.querySelector(".chart");
  const log = box.querySelector("input[name=log]");
  const spec = figure.rows_axis ? logarithmic(figure.spec, log.checked) : figure.spec;
  const { view } = await vegaEmbed(place, spec, { renderer: "svg", actions: false, config });
  views.get(box)?.finalize();
  views.set(box, view);
  box.querySelector("[name=svg]").onclick = async () => save(`${figure.title}.svg`, "image/svg+xml", await standalone(view));
  box.querySelector("[name=csv]").onclick = () => save(`${figure.title}.csv`, "text/csv", csvOf(figure.spec.data.values));
  if (log) log.onchange = () => draw(box, figure);
}

// On paper charts are drawn again, smaller, so that their letters keep their size.
addEventListener("beforeprint", () => views.forEach((view, box) => {
  const wide = box.matches(":last-child:nth-child(odd)");
  view.width(wide ? 640 : 300).height(view.height() * 0.6).run();
}));
addEventListener("afterprint", () => boxes.forEach((box, k) => draw(box, figures[k])));

const boxes = [...document.querySelectorAll("figure")];
Promise.all(boxes.map((box, k) => draw(box, figures[k])))
  .then(() => { document.documentElement.dataset.drawn = boxes.length; });
