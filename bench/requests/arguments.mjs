// What the requests ask for: the tool, the prompt or the resource, and the arguments.

import { prompts, resources, tools } from '../catalog/definitions.mjs'
import { LANGUAGES, SORT_ORDERS } from '../catalog/schemas.mjs'

const WORDS = ['iron', 'three legs', 'brass kettle', 'Größe 12', '五徳', 'подставка', 'trivet 🔥', 'a "quoted" word', 'copper\tpan', 'x']
const SENTENCE = 'The kettle stands on a trivet; 鉄瓶は五徳の上に立つ. Nothing wobbles on three legs. '

/** By method: params, made from numbers that look random. */
export function createParams (method, toolCount) {
  const of = { tools: tools(toolCount), prompts: prompts(), resources: resources() }
  const makers = {
    'tools/list': () => ({}),
    'tools/call': (random) => {
      const tool = pick(of.tools, random)
      return { name: tool.name, arguments: ARGUMENTS[tool.kind](random) }
    },
    'prompts/get': (random) => {
      const { name, argument } = pick(of.prompts, random)
      return { name, arguments: { [argument.name]: text(random, 60) } }
    },
    'resources/read': (random) => ({ uri: pick(of.resources, random).uri })
  }
  return makers[method]
}

/** By the kind of a tool. One search in ten brings some kilobytes of text, and so does one excerpt in three. */
const ARGUMENTS = {
  search: (random) => ({
    query: text(random, 120).slice(0, 200),
    limit: 1 + random(50),
    offset: random(10_000),
    ...random(2) === 0 && { sort: pick(SORT_ORDERS, random) },
    ...random(2) === 0 && { tags: Array.from({ length: random(5) }, () => pick(WORDS, random)) },
    ...random(3) === 0 && { archived: random(2) === 0 },
    ...random(10) === 0 && { context: text(random, 4000) }
  }),
  statistics: (random) => ({
    numbers: Array.from({ length: 1 + random(40) }, () => random(2) === 0 ? random(100_000) : (random(2_000_000) - 1_000_000) / 997),
    precision: random(7)
  }),
  excerpt: (random) => ({
    text: text(random, random(3) === 0 ? 4000 : 200),
    length: 20 + random(400),
    language: pick(LANGUAGES, random)
  })
}

function text (random, mostCharacters) {
  const length = 1 + random(mostCharacters)
  let text = pick(WORDS, random)
  while (text.length < length) text += random(4) === 0 ? ` ${pick(WORDS, random)} ` : SENTENCE.slice(0, 1 + random(SENTENCE.length))
  return text.slice(0, length).toWellFormed().trim() || 'x'
}

function pick (values, random) {
  return values[random(values.length)]
}
