// Draws the covers of books. They are markup: some hosts show no picture that a page brings with it.

const SVG = 'http://www.w3.org/2000/svg'
const SMALL_WORDS = new Set(['a', 'an', 'and', 'in', 'of', 'on', 'or', 'the', 'to'])

/** A cover with the initials of the title. The same book always has the same colour. */
export function toCover ({ bookId, title }) {
  const hue = [...bookId].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 0)
  const words = title.split(/[\s-]+/).filter((word) => !SMALL_WORDS.has(word.toLowerCase()))
  const initials = words.slice(0, 3).map((word) => [...word][0].toUpperCase()).join('')
  const cover = make('svg', { class: 'cover', viewBox: '0 0 48 64', width: 48, height: 64 })
  cover.ariaHidden = 'true'
  const text = make('text', { x: 27, y: 37 })
  text.textContent = initials
  cover.append(
    make('rect', { width: 48, height: 64, rx: 3, fill: `hsl(${hue} 45% 32%)` }),
    make('rect', { width: 6, height: 64, rx: 3, fill: `hsl(${hue} 45% 24%)` }),
    make('path', { d: 'M12 12h30M12 52h30', stroke: '#fff', 'stroke-opacity': 0.6 }),
    text
  )
  return cover
}

function make (name, attributes) {
  const element = document.createElementNS(SVG, name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  return element
}
