// Draws a chart: panels with a row for each server. A row has a dot at the median, and a line between the
// ends of the range. The axis is logarithmic.

import { endsOf } from './stats.mjs'

export const WIDTH = 860
const LEFT = 240
const RIGHT = 160
const ROW = 21
const GAP = 33
/** Axes of more powers of ten than this have fewer ticks. */
const MOST_POWERS = 2.5

/**
 * @param {string} title
 * @param {number} top the place of the title
 * @param {{ title: string, rows: object[] }[]} panels each row has `name`, `isOwn`, `figures`, a spread, and
 *   `label`, the text beside the dot
 * @returns {{ parts: string[], end: number }} `end`: the place of the end of the chart
 */
export function drawChart (title, top, panels) {
  const ends = panels.flatMap(({ rows }) => rows.flatMap(({ figures }) => endsOf(figures)))
  const scale = createScale(Math.min(...ends), Math.max(...ends))
  const parts = []
  let y = top + 38
  for (const panel of panels) {
    parts.push(text(16, y, panel.title, 'font-weight="600"'))
    for (const row of panel.rows) parts.push(...drawRow(row, y += ROW, scale))
    y += GAP
  }
  const end = y - GAP + 14
  const ticks = scale.ticks.flatMap((value) => drawTick(scale.place(value), value, [top + 24, end]))
  return { parts: [text(16, top, title, 'font-size="16"'), ...ticks, ...parts], end }
}

/** Places a figure. The ticks are 1, 2 and 5, or 1 and 3, times the powers of ten. */
function createScale (least, most) {
  const digits = Math.log10(most / least) > MOST_POWERS ? [1, 3] : [1, 2, 5]
  const powers = Array.from({ length: 10 }, (_, index) => index - 3)
  const steps = powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))
  const from = steps.findLast((step) => step <= least) ?? steps[0]
  const to = steps.find((step) => step >= most) ?? steps.at(-1)
  const width = WIDTH - LEFT - RIGHT
  return {
    ticks: steps.filter((step) => step >= from && step <= to),
    place: (value) => LEFT + width * Math.log(value / from) / Math.log(to / from || 10)
  }
}

function drawRow ({ name, isOwn, figures, label }, y, { place }) {
  const [x, from, to] = [figures.median, ...endsOf(figures)].map((value) => place(value).toFixed(1))
  return [
    text(32, y, name),
    `<g class="${isOwn ? 'own' : 'other'}">` +
      `<line x1="${from}" x2="${to}" y1="${y - 4}" y2="${y - 4}" stroke-width="3"/>` +
      `<circle cx="${x}" cy="${y - 4}" r="4.5"/></g>`,
    text(Number(to) + 11, y, label)
  ]
}

function drawTick (x, value, [top, bottom]) {
  const place = x.toFixed(1)
  return [
    `<line class="rule" x1="${place}" x2="${place}" y1="${top}" y2="${bottom}"/>`,
    text(place, bottom + 16, value.toLocaleString('en'), 'class="quiet" text-anchor="middle"')
  ]
}

export function text (x, y, words, attributes = '') {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`
}
