// Checks answers, and sends single requests.

import { isDeepStrictEqual } from 'node:util'
import { prompts, resources, tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'

/** The default page size of Trivet. No longer list is measured. */
const PAGE_SIZE = 1000

/**
 * Functions by method. Each returns whether a result is right for the params.
 *
 * @param {number} toolCount
 * @param {{ works?: boolean }} [options] `works`: whether the server runs our tools and lists all of them
 */
export function createChecks (toolCount, { works = true } = {}) {
  const byName = new Map([...tools(toolCount), ...prompts()].map((one) => [one.name, one]))
  const byUri = new Map(resources().map((one) => [one.uri, one]))
  if (!works) {
    return {
      'tools/list': ({ tools }) => tools.length > 0,
      'tools/call': ({ content, isError }) => isError !== true && content.length > 0
    }
  }
  return {
    'tools/list': ({ tools }) => tools.length === Math.min(toolCount, PAGE_SIZE),
    'tools/call': ({ content, structuredContent }, { name, arguments: args }) => {
      const expected = WORK[byName.get(name).kind](name, args)
      if (typeof expected === 'string') return content[0].text === expected
      return [structuredContent, JSON.parse(content[0].text)].every((one) => isDeepStrictEqual(one, expected))
    },
    'prompts/get': ({ messages: [message] }, { name, arguments: { subject } }) => (
      message.content.text.trim() === byName.get(name).text(subject)
    ),
    'resources/read': ({ contents }, { uri }) => contents[0].text === byUri.get(uri).text
  }
}

/**
 * @param {string} text a JSON-RPC message, or events whose last one is a JSON-RPC message
 * @param {object} request `refusal`: a text of the answer, if the request must be refused
 * @throws if the message is not the right answer to the request
 */
export function checkAnswer (checks, { method, params, id, refusal }, text) {
  let isRight = false
  try {
    const message = JSON.parse(text.startsWith('{') ? text : text.slice(text.lastIndexOf('\ndata: ') + 7))
    isRight = refusal === undefined
      ? message.id === id && checks[method](message.result, params)
      : text.includes(refusal)
  } catch {}
  if (isRight) return
  const asked = `${method} ${JSON.stringify(params).slice(0, 300)}`
  throw new Error(`a wrong answer to ${asked}: ${text.slice(0, 500)}`)
}

/** Sends one request, and returns its result. @throws if the answer is not a 200 with a result */
export async function ask (url, { method, headers, body }) {
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  const { result } = response.status === 200 ? JSON.parse(text) : {}
  if (result !== undefined) return result
  throw new Error(`${url} answered ${method} with ${response.status}: ${text.slice(0, 500)}`)
}
