// The params of the requests: a tool, prompt or resource, and the arguments.

import { prompts, resources, tools } from '../catalog/definitions.mjs'
import { LANGUAGES, SORT_ORDERS } from '../catalog/schemas.mjs'

const PLAIN = {
  words: ['iron', 'three legs', 'brass kettle', 'size 12', 'a "quoted" word', 'copper\tpan', 'x'],
  sentence: 'The kettle stands on a trivet, and the trivet on three legs. Nothing wobbles on three legs.\n'
}
const FOREIGN = {
  words: ['Größe 12', '五徳', 'подставка', 'trivet 🔥', 'crème brûlée'],
  sentence: 'Der Kessel steht auf dem Dreifuß; 鉄瓶は五徳の上に立つ. На трёх ногах ничто не качается. '
}
/** One in this many texts is not ASCII. */
const FOREIGN_EVERY = 4

/** Returns a function that makes the params of a method from pseudo-random numbers. */
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

/**
 * Functions by kind of tool. One search in ten and one excerpt in three carry some kilobytes of text.
 */
const ARGUMENTS = {
  search: (random) => ({
    query: text(random, 120).slice(0, 200),
    limit: 1 + random(50),
    offset: random(10_000),
    ...random(2) === 0 && { sort: pick(SORT_ORDERS, random) },
    ...random(2) === 0 && { tags: list(random(5), () => pick(languageOf(random).words, random)) },
    ...random(3) === 0 && { archived: random(2) === 0 },
    ...random(10) === 0 && { context: text(random, 4000) }
  }),
  statistics: (random) => ({
    numbers: list(1 + random(40), () => number(random)),
    precision: random(7)
  }),
  excerpt: (random) => ({
    text: text(random, random(3) === 0 ? 4000 : 200),
    length: 20 + random(400),
    language: pick(LANGUAGES, random)
  })
}

function text (random, mostCharacters) {
  const { words, sentence } = languageOf(random)
  const length = 1 + random(mostCharacters)
  let text = pick(words, random)
  while (text.length < length) {
    text += ` ${pick(words, random)} ${sentence.slice(0, 1 + random(sentence.length))}`
  }
  return text.slice(0, length).toWellFormed().trim() || 'x'
}

function number (random) {
  return random(2) === 0 ? random(100_000) : (random(2_000_000) - 1_000_000) / 997
}

function list (length, make) {
  return Array.from({ length }, make)
}

function languageOf (random) {
  return random(FOREIGN_EVERY) === 0 ? FOREIGN : PLAIN
}

function pick (values, random) {
  return values[random(values.length)]
}
