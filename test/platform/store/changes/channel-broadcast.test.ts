// What a broadcast over a channel says of failures. The contract of broadcasts is run with real servers.

import t from 'tap'
import {
  createChannelBroadcast, type ChannelListener
} from '../../../../src/platform/store/changes/channel-broadcast.ts'

t.test('failures of the channel are reported until it closes', async (t) => {
  const listeners: ChannelListener[] = []
  const errors: unknown[] = []
  const broadcast = await createChannelBroadcast({
    name: 'test',
    createChannel (listener) {
      listeners.push(listener)
      return {
        isWhole: true,
        async open () {},
        async send () {},
        async close () { listener.onError('a probe was broken off') }
      }
    },
    time: async () => 0,
    onError: (error) => errors.push(error)
  })
  listeners[0]?.onError('the connection is lost')
  t.strictSame(errors, ['the connection is lost'])
  await broadcast.close()
  t.strictSame(errors, ['the connection is lost'], 'a close is no outage')
})
