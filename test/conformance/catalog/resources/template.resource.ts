import { defineResourceTemplate } from 'trivet'

export default defineResourceTemplate({
  uriTemplate: 'test://template/{id}/data',
  name: 'template-data',
  description: 'Data made up from the id in its URI.',
  mimeType: 'application/json',
  read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
})
