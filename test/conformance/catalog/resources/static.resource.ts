import { defineResource } from 'trivet'
import { PNG } from '../lib/media.ts'

export const text = defineResource({
  uri: 'test://static-text',
  name: 'static-text',
  description: 'A text that never changes.',
  mimeType: 'text/plain',
  // First in the list: the suite reads the first resource.
  order: -1,
  read: () => 'This is the content of the static text resource.'
})

export const binary = defineResource({
  uri: 'test://static-binary',
  name: 'static-binary',
  description: 'An image that never changes.',
  mimeType: 'image/png',
  read: () => Buffer.from(PNG, 'base64')
})

export const watched = defineResource({
  uri: 'test://watched-resource',
  name: 'watched-resource',
  description: 'A text to subscribe to.',
  mimeType: 'text/plain',
  read: () => 'This is the content of the watched resource.'
})
