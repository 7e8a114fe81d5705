// One tool for each kind of content block.

import { defineTool } from 'trivet'
import { PNG, WAV } from '../lib/media.ts'

export const simpleText = defineTool({
  name: 'test_simple_text',
  description: 'Returns a text block.',
  // First in the list: the suite calls the first tool without arguments, and expects a success.
  order: -1,
  run: () => 'This is a simple text response for testing.'
})

export const imageContent = defineTool({
  name: 'test_image_content',
  description: 'Returns an image block.',
  run: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] })
})

export const audioContent = defineTool({
  name: 'test_audio_content',
  description: 'Returns an audio block.',
  run: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })
})

export const embeddedResource = defineTool({
  name: 'test_embedded_resource',
  description: 'Returns an embedded resource.',
  run: () => ({
    content: [{
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.'
      }
    }]
  })
})

export const multipleContentTypes = defineTool({
  name: 'test_multiple_content_types',
  description: 'Returns a text block, an image block and an embedded resource.',
  run: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}'
        }
      }
    ]
  })
})
