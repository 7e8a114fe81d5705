// Prompts with images and resources.

import { definePrompt } from 'trivet'
import { PNG } from '../lib/media.ts'

export const embeddedResource = definePrompt({
  name: 'test_prompt_with_embedded_resource',
  description: 'A prompt that embeds a resource.',
  arguments: [
    { name: 'resourceUri', description: 'The URI that the embedded resource bears.', required: true }
  ],
  render: ({ resourceUri }) => [
    {
      role: 'user',
      content: {
        type: 'resource',
        resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' }
      }
    },
    { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } }
  ]
})

export const image = definePrompt({
  name: 'test_prompt_with_image',
  description: 'A prompt that holds an image.',
  render: () => [
    { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
    { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } }
  ]
})
