// A service whose resources can change, and the requests of its sessions.

import type { Test } from 'tap'
import type { AppOptions } from '../../../../src/app/app.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import type { SessionClient, SessionReply } from '../../../helpers/session.ts'

export const FILES = {
  'tools/all.ts': `
    import { defineTool } from 'trivet'
    const inputSchema = { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] }
    const touching = { name: 'touch', description: 'Says that a resource has changed.', inputSchema }
    export const touch = defineTool({ ...touching, run: ({ uri }, ctx) => {
      ctx.notify.resourceUpdated(uri)
      return 'ok'
    } })
    const talking = { name: 'loud', description: 'Sends many messages.', inputSchema }
    export const loud = defineTool({ ...talking, run: ({ uri }, ctx) => {
      ctx.log.error('here')
      ctx.notify.resourceUpdated(uri)
      ctx.progress(1)
      return 'ok'
    } })`,
  'resources/all.resource.ts': `
    import { defineResourceTemplate } from 'trivet'
    const read = ({ name }) => name
    export default defineResourceTemplate({ uriTemplate: 'test:{name}', name: 'all', read })`,
  'resources/notes/a.txt': 'a'
}

export async function serve (t: Test, options: AppOptions = {}): Promise<string> {
  return await listen(await buildApp(t, FILES, options))
}

export const touch = async (session: SessionClient, uri: string) => await session.call('touch', { uri })
export const follow = async (session: SessionClient, uri: string) => {
  const { status, response } = await session.request('resources/subscribe', { uri }, `follow ${uri}`)
  if (status !== 200 || JSON.stringify(response.result) !== '{}') {
    throw new Error(`not subscribed: ${status} ${JSON.stringify(response)}`)
  }
}
export const unfollow = async (session: SessionClient, uri: string) => await session.request(
  'resources/unsubscribe', { uri }
)
export const urisOf = ({ messages }: SessionReply) => messages.map(({ params }) => params?.uri)
