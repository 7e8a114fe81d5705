import { defineTool } from 'trivet'

export const dotted = defineTool({
  name: 'parts.list', description: 'Lists parts.', run: () => 'listed parts'
})

export const long = defineTool({
  name: 'list_all_of_the_spare_parts_that_any_warehouse_of_the_company_has_in_its_stock_today',
  description: 'Lists spare parts.',
  run: () => 'listed spare parts'
})
